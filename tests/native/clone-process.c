// Processes are started by clone and by system calls while another thread is in the midst of atomic operations: they can
// do such operations, too.
// expect: no race
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int counters[64], stop;

static void count(void) {
  for (int i = 0; i < 64; i++) atomic_fetch_add(&counters[i], 1);
}

void *counter(void *unused) {
  while (!atomic_load(&stop)) count();
  return unused;
}

static int child(void *unused) {
  count();
  return unused != 0;
}

pid_t _Fork(void);

int main(void) {
  const size_t size = 1 << 16;
  char *stack = malloc(size);
  pthread_t a;
  int failed = 0;
  pthread_create(&a, 0, counter, 0);
  for (int i = 0; i < 60; i++) {
    pid_t started;
    if (i % 3 == 0) {
      started = clone(child, stack + size, SIGCHLD, 0);
    } else {
      started = i % 3 == 1 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : _Fork();
      if (started == 0) _exit(child(0));
    }
    int status = 1;
    failed |= waitpid(started, &status, 0) != started || status != 0;
  }
  atomic_store(&stop, 1);
  pthread_join(a, 0);
  return failed;
}
