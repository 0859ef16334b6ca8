// tryrdlock, trywrlock, timedrdlock, timedwrlock order when they succeed.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <time.h>

int x;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

struct timespec later(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 60;
  return until;
}

void *trier(void *unused) {
  while (pthread_rwlock_trywrlock(&l) != 0) {
    sched_yield();
  }
  x++;
  pthread_rwlock_unlock(&l);
  return unused;
}

void *waiter(void *unused) {
  struct timespec until = later();
  if (pthread_rwlock_timedwrlock(&l, &until) == 0) {
    x++;
    pthread_rwlock_unlock(&l);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  int seen = 0;
  pthread_create(&a, 0, trier, 0);
  pthread_create(&b, 0, waiter, 0);
  while (seen != 2) {
    struct timespec until = later();
    if (pthread_rwlock_timedrdlock(&l, &until) == 0) {
      seen = x;
      pthread_rwlock_unlock(&l);
    }
    if (pthread_rwlock_tryrdlock(&l) == 0) {
      seen = x;
      pthread_rwlock_unlock(&l);
    }
    sched_yield();
  }
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
