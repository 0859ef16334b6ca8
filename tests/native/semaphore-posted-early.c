// The post comes before the write it should announce.
// expect: race on x, lines 11 and 20
#include <pthread.h>
#include <semaphore.h>

int x;
sem_t ready;

void *producer(void *unused) {
  sem_post(&ready);
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  sem_init(&ready, 0, 0);
  pthread_create(&a, 0, producer, 0);
  sem_wait(&ready);
  x++;
  pthread_join(a, 0);
}
