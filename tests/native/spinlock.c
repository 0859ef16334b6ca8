// pthread_spin_lock and pthread_spin_trylock.
// expect: no race
#include <pthread.h>
#include <sched.h>

int x;
pthread_spinlock_t l;

void *locker(void *unused) {
  for (int i = 0; i < 100; i++) {
    pthread_spin_lock(&l);
    x++;
    pthread_spin_unlock(&l);
  }
  return unused;
}

void *trier(void *unused) {
  for (int i = 0; i < 100; i++) {
    while (pthread_spin_trylock(&l) != 0) {
      sched_yield();
    }
    x++;
    pthread_spin_unlock(&l);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&a, 0, locker, 0);
  pthread_create(&b, 0, trier, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_spin_destroy(&l);
  return x != 200;
}
