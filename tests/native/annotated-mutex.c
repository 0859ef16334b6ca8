// Mutexes of the program's own say where they are taken and given back. What they count on the way is nobody's business.
// expect: no race
#include <pthread.h>
#include <sched.h>

void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);

struct mutex {
  int state;
};

struct mutex mutex;
int taken, shared;

static void lock(struct mutex *mutex) {
  __tsan_mutex_pre_lock(mutex, 0);
  while (__atomic_exchange_n(&mutex->state, 1, __ATOMIC_RELAXED)) {
    sched_yield();
  }
  taken++;
  __tsan_mutex_post_lock(mutex, 0, 1);
}

static void unlock(struct mutex *mutex) {
  __tsan_mutex_pre_unlock(mutex, 0);
  taken--;
  __atomic_store_n(&mutex->state, 0, __ATOMIC_RELAXED);
  __tsan_mutex_post_unlock(mutex, 0);
}

void *adder(void *unused) {
  for (int i = 0; i < 100; i++) {
    lock(&mutex);
    shared++;
    unlock(&mutex);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  __tsan_mutex_create(&mutex, 0);
  pthread_create(&a, 0, adder, 0);
  pthread_create(&b, 0, adder, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __tsan_mutex_destroy(&mutex, 0);
  return shared != 200;
}
