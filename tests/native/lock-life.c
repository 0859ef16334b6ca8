// Locks begin and end while another thread uses them.
// expect: race on late, lines 34 and 47
// expect: race on mutex, lines 35 and 48
// expect: race on tried, lines 36 and 49
// expect: race on rwlock, lines 37 and 50
// expect: race on semaphore, lines 38 and 51
// expect: race on condition, lines 39 and 52
// expect: race on pthread_mutex_t, lines 40 and 53
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t late;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
sem_t semaphore;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_mutex_t *freed;

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  pthread_mutex_init(&late, 0);
  pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
  pthread_mutex_trylock(&tried), pthread_mutex_unlock(&tried);
  pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock);
  sem_post(&semaphore);
  pthread_cond_signal(&condition);
  pthread_mutex_lock(freed), pthread_mutex_unlock(freed);
  next();
  return unused;
}

void *second(void *unused) {
  await(1);
  pthread_mutex_lock(&late);
  pthread_mutex_destroy(&mutex);
  pthread_mutex_destroy(&tried);
  pthread_rwlock_destroy(&rwlock);
  sem_destroy(&semaphore);
  pthread_cond_destroy(&condition);
  free(freed);
  return unused;
}

int main(void) {
  sem_init(&semaphore, 0, 0);
  freed = malloc(sizeof *freed);
  pthread_mutex_init(freed, 0);
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
