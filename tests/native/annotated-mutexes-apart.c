// Two mutexes of the program's own share a counter, which orders nothing: neither when they are taken and given back, nor when
// they wake those who wait.
// expect: race on shared, lines 41 and 51
// expect: race on noted, lines 42 and 52
#include <pthread.h>
#include <unistd.h>

void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void __tsan_mutex_pre_signal(void *, unsigned);
void __tsan_mutex_post_signal(void *, unsigned);

int first, second;
int count, woken, shared, noted;
static int turn;

static void lock(int *mutex) {
  __tsan_mutex_pre_lock(mutex, 0);
  __atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL);
  __atomic_store_n(mutex, 1, __ATOMIC_RELEASE);
  __tsan_mutex_post_lock(mutex, 0, 1);
}

static void unlock(int *mutex) {
  __tsan_mutex_pre_unlock(mutex, 0);
  __atomic_store_n(mutex, 0, __ATOMIC_RELEASE);
  __atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL);
  __tsan_mutex_post_unlock(mutex, 0);
}

static void wake(int *mutex) {
  __tsan_mutex_pre_signal(mutex, 0);
  __atomic_fetch_add(&woken, 1, __ATOMIC_ACQ_REL);
  __tsan_mutex_post_signal(mutex, 0);
}

void *one(void *unused) {
  lock(&first);
  shared = 1;
  noted = 1, unlock(&first);
  wake(&first);
  __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
  return unused;
}

void *other(void *unused) {
  while (!__atomic_load_n(&turn, __ATOMIC_RELAXED)) usleep(100);
  lock(&second);
  shared = 2;
  unlock(&second), wake(&second), noted = 2;
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
