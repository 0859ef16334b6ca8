// A new thread gets the stack and thread-local storage of one that has exited unjoined; the memory
// is new to it.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

_Thread_local int mine;
atomic_int done;

void *worker(void *unused) {
  volatile int local[64];
  for (int i = 0; i < 64; i++) {
    local[i] = i;
    mine += local[i];
  }
  atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    pthread_detach(a);
    while (atomic_load_explicit(&done, memory_order_relaxed) <= i) {
      usleep(100);
    }
    usleep(2000);
  }
  return 0;
}
