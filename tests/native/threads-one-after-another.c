// Five hundred threads one after another: each sees what the one before it did.
// expect: no race
#include <pthread.h>

int x;

void *worker(void *unused) {
  x++;
  return unused;
}

int main(void) {
  for (int i = 0; i < 500; i++) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    pthread_join(a, 0);
  }
  return x != 500;
}
