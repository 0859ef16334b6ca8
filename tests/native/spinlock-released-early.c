// The write follows the unlock of the spinlock.
// expect: race on x, lines 11 and 11
#include <pthread.h>

int x;
pthread_spinlock_t locks[2];

void *hasty(void *mine) {
  pthread_spin_lock(mine);
  pthread_spin_unlock(mine);
  x = 1;
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_spin_init(&locks[0], PTHREAD_PROCESS_PRIVATE);
  pthread_spin_init(&locks[1], PTHREAD_PROCESS_PRIVATE);
  pthread_create(&a, 0, hasty, (void *)&locks[0]);
  pthread_create(&b, 0, hasty, (void *)&locks[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
