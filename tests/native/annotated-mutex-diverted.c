// In the midst of taking a mutex of the program's own, code runs that has nothing to do with it: it is checked.
// expect: race on watched, lines 20 and 30
#include <pthread.h>
#include <unistd.h>

void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
void __tsan_mutex_pre_divert(void *, unsigned);
void __tsan_mutex_post_divert(void *, unsigned);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);

int mutex, own, watched;
static int turn;

void *one(void *unused) {
  __tsan_mutex_pre_lock(&mutex, 0);
  own++;
  __tsan_mutex_pre_divert(&mutex, 0);
  watched++;
  __tsan_mutex_post_divert(&mutex, 0);
  own++;
  __tsan_mutex_post_lock(&mutex, 0, 1);
  __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
  return unused;
}

void *other(void *unused) {
  while (!__atomic_load_n(&turn, __ATOMIC_RELAXED)) usleep(100);
  watched++;
  own++;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, other, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
