// A program tells of the system calls that it makes by instructions of its own: what one reads into, and that one forks.
// expect: race on buffer, lines 26 and 38
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void __sanitizer_syscall_pre_impl_read(long, long, long);
void __sanitizer_syscall_post_impl_read(long, long, long, long);
void __sanitizer_syscall_pre_impl_fork(void);
void __sanitizer_syscall_post_impl_fork(long);
void __sanitizer_syscall_pre_impl_getpid(void);
void __sanitizer_syscall_post_impl_getpid(long);

static char buffer[8];
static atomic_int counters[64], stop;

static long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

void *reader(void *unused) {
  __sanitizer_syscall_pre_impl_read(0, (long)buffer, 4);
  __sanitizer_syscall_post_impl_read(0, 0, (long)buffer, 4);
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    for (int i = 0; i < 64; i++) atomic_fetch_add_explicit(&counters[i], 1, memory_order_relaxed);
  }
  return unused;
}

int main(void) {
  int failed = 0;
  pthread_t a;
  pthread_create(&a, 0, reader, 0);
  buffer[3] = 1;
  for (int i = 0; i < 10; i++) {
    __sanitizer_syscall_pre_impl_fork();
    long child = call(SYS_fork, 0, 0, 0);
    __sanitizer_syscall_post_impl_fork(child);
    for (int i = 0; i < 64; i++) atomic_fetch_add(&counters[i], 1);
    if (child == 0) _exit(0);
    int status = 1;
    failed |= waitpid(child, &status, 0) != child || status != 0;
  }
  __sanitizer_syscall_pre_impl_getpid();
  __sanitizer_syscall_post_impl_getpid(call(SYS_getpid, 0, 0, 0));
  atomic_store_explicit(&stop, 1, memory_order_relaxed);
  pthread_join(a, 0);
  return failed;
}
