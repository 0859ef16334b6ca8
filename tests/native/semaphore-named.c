// A named semaphore orders like any other.
// expect: no race
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

int x;
sem_t *ready;

void *producer(void *unused) {
  x = 1;
  sem_post(ready);
  return unused;
}

int main(void) {
  pthread_t a;
  char name[64];
  snprintf(name, sizeof name, "/deadheat-corpus-%d", (int)getpid());
  ready = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
  if (ready == SEM_FAILED) {
    return 1;
  }
  sem_unlink(name);
  pthread_create(&a, 0, producer, 0);
  sem_wait(ready);
  x++;
  pthread_join(a, 0);
  sem_close(ready);
  return x != 2;
}
