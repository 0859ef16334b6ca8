// A lock is made and used by one thread while another may use it already: that its maker locks it, too, orders nothing.
// expect: race on mutex, lines 16 and 27
// expect: race on spin, lines 17 and 32
// expect: race on rwlock, lines 18 and 37
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t mutex;
pthread_spinlock_t spin;
pthread_rwlock_t rwlock;
int shared;

static int made;

void *maker(void *unused) {
  pthread_mutex_init(&mutex, 0);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_rwlock_init(&rwlock, 0);
  pthread_mutex_lock(&mutex), shared++, pthread_mutex_unlock(&mutex);
  pthread_spin_lock(&spin), pthread_spin_unlock(&spin);
  pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock);
  __atomic_store_n(&made, 1, __ATOMIC_RELAXED);
  return unused;
}

void *locks(void *unused) {
  pthread_mutex_lock(&mutex), shared++, pthread_mutex_unlock(&mutex);
  return unused;
}

void *spins(void *unused) {
  pthread_spin_lock(&spin), pthread_spin_unlock(&spin);
  return unused;
}

void *reads(void *unused) {
  pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock);
  return unused;
}

int main(void) {
  void *(*users[])(void *) = {locks, spins, reads};
  pthread_t maker_thread, threads[3];
  pthread_create(&maker_thread, 0, maker, 0);
  while (!__atomic_load_n(&made, __ATOMIC_RELAXED)) {
    usleep(100);
  }
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, users[i], 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  pthread_join(maker_thread, 0);
  return shared != 2;
}
