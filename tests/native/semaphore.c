// A semaphore hands x to and fro.
// expect: no race
#include <pthread.h>
#include <semaphore.h>

int x;
sem_t to, fro;

void *partner(void *unused) {
  for (int i = 0; i < 100; i++) {
    sem_wait(&to);
    x++;
    sem_post(&fro);
  }
  return unused;
}

int main(void) {
  pthread_t a;
  sem_init(&to, 0, 0);
  sem_init(&fro, 0, 0);
  pthread_create(&a, 0, partner, 0);
  for (int i = 0; i < 100; i++) {
    x++;
    sem_post(&to);
    sem_wait(&fro);
  }
  pthread_join(a, 0);
  sem_destroy(&to);
  sem_destroy(&fro);
  return x != 200;
}
