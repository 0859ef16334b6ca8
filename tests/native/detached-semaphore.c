// A detached thread, created detached, that says by a semaphore that it is done.
// expect: no race
#include <pthread.h>
#include <semaphore.h>

int x;
sem_t done;

void *writer(void *unused) {
  x = 1;
  sem_post(&done);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_attr_t attributes;
  sem_init(&done, 0, 0);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_create(&a, &attributes, writer, 0);
  pthread_attr_destroy(&attributes);
  sem_wait(&done);
  x++;
  return x != 2;
}
