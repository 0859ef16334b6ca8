// hard: 20,000 threads, one after another.
#include <pthread.h>

static long x;

static void *work(void *unused) {
  x++;
  return unused;
}

int main(void) {
  for (int i = 0; i < 20000; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
  }
  return x != 20000;
}
