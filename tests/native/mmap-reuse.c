// Pages given back by one thread and mapped by the next are new.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

atomic_int done;

void *worker(void *unused) {
  char *pages = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 16384; i += 64) {
    pages[i] = 1;
  }
  munmap(pages, 16384);
  atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  for (int i = 0; i < 5; i++) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    pthread_detach(a);
    while (atomic_load_explicit(&done, memory_order_relaxed) <= i) {
      usleep(100);
    }
  }
  return 0;
}
