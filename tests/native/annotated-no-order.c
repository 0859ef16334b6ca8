// A program says that some of its synchronisation is not meant to order anything.
// expect: race on first, lines 19 and 32
// expect: race on second, lines 20 and 33
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
int first, second;
atomic_int flag;

static int turn;

void *one(void *unused) {
  first = 1;
  second = 1;
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
  pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock);
  flag = 1;
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
  return unused;
}

void *other(void *unused) {
  while (!__atomic_load_n(&turn, __ATOMIC_RELAXED)) usleep(100);
  pthread_mutex_lock(&mutex), first = flag, pthread_mutex_unlock(&mutex);
  pthread_rwlock_wrlock(&rwlock), second = 2, pthread_rwlock_unlock(&rwlock);
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
