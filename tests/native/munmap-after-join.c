// Threads read a mapping under a lock, and another joins them before it unmaps: most of it nobody has touched.
// expect: no race
#include <pthread.h>
#include <sys/mman.h>

enum { SIZE = 1 << 30 };
char *map;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *unused) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < SIZE; i += SIZE / 16)
    map[i]++;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t a, b;
  map = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  munmap(map, SIZE);
}
