// One thread allocates, another writes and frees; a mutex hands the block over.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

int *box;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *producer(void *unused) {
  for (int i = 0; i < 100;) {
    int *item = malloc(sizeof(int));
    *item = i;
    pthread_mutex_lock(&m);
    if (!box) {
      box = item;
      item = 0;
      i++;
    }
    pthread_mutex_unlock(&m);
    free(item);
  }
  return unused;
}

int main(void) {
  pthread_t a;
  int sum = 0;
  pthread_create(&a, 0, producer, 0);
  for (int i = 0; i < 100;) {
    pthread_mutex_lock(&m);
    int *item = box;
    box = 0;
    pthread_mutex_unlock(&m);
    if (item) {
      sum += *item;
      *item = 0;
      free(item);
      i++;
    } else {
      sched_yield();
    }
  }
  pthread_join(a, 0);
  return sum != 4950;
}
