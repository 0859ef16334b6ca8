// Double-checked locking with a plain flag: the first check is not protected.
// expect: race on made, lines 9 and 12
#include <pthread.h>

int made;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
  if (!made) {
    pthread_mutex_lock(&m);
    if (!made) {
      made = 1;
    }
    pthread_mutex_unlock(&m);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
