// pthread_mutex_trylock orders when it succeeds.
// expect: no race
#include <pthread.h>
#include <sched.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *count(void *unused) {
  for (int i = 0; i < 100; i++) {
    while (pthread_mutex_trylock(&m) != 0) {
      sched_yield();
    }
    x++;
    pthread_mutex_unlock(&m);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x != 200;
}
