// A mutex is destroyed while another thread holds it: that it was taken before is known, that it was given back is not.
// expect: race on mutex, lines 18 and 28
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken;
static int destroyed;

void *holder(void *unused) {
  pthread_mutex_lock(&mutex);
  sem_post(&taken);
  while (!__atomic_load_n(&destroyed, __ATOMIC_RELAXED)) {
    usleep(100);
  }
  // Not done in order.
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t a;
  sem_init(&taken, 0, 0);
  pthread_create(&a, 0, holder, 0);
  while (sem_wait(&taken)) {
  }
  pthread_mutex_destroy(&mutex);
  __atomic_store_n(&destroyed, 1, __ATOMIC_RELAXED);
  pthread_join(a, 0);
  return 0;
}
