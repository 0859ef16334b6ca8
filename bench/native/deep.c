// hard: calls 10,000 deep, again and again.
#include <pthread.h>

__attribute__((noinline)) static long deep(long depth, long *cell) {
  ++*cell;
  long below = depth ? deep(depth - 1, cell) : 0;
  return below ^ *cell;
}

static void *work(void *cell) {
  for (int i = 0; i < 300; i++) {
    deep(10000, cell);
  }
  return 0;
}

int main(void) {
  static long cells[64];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], 0, work, &cells[32 * i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], 0);
  }
  return cells[0] != 300 * 10001;
}
