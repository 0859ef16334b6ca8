// kind: four threads and sixteen locks, a few accesses in each section.
#include <pthread.h>

enum { THREADS = 4, LOCKS = 16, ROUNDS = 600000 };
static struct {
  pthread_mutex_t lock;
  long count, last[4];
} slots[LOCKS];

static void *work(void *argument) {
  unsigned seed = (long)argument + 1;
  for (int i = 0; i < ROUNDS; i++) {
    seed = seed * 1103515245 + 12345;
    int slot = (seed >> 16) % LOCKS;
    pthread_mutex_lock(&slots[slot].lock);
    slots[slot].count++;
    slots[slot].last[i % 4] = i;
    pthread_mutex_unlock(&slots[slot].lock);
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < LOCKS; i++) {
    pthread_mutex_init(&slots[i].lock, 0);
  }
  for (long i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, work, (void *)i);
  }
  long sum = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
  }
  for (int i = 0; i < LOCKS; i++) {
    sum += slots[i].count;
  }
  return sum != THREADS * ROUNDS;
}
