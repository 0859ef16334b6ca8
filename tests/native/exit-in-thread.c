// pthread_exit ends a thread from deep inside; joining it orders as usual.
// expect: no race
// options: -Wno-infinite-recursion
#include <pthread.h>

int x;

__attribute__((noinline)) void deep(int depth) {
  if (depth == 0) {
    x = 1;
    pthread_exit(&x);
  }
  deep(depth - 1);
}

void *worker(void *unused) {
  deep(10);
  return unused;
}

int main(void) {
  pthread_t a;
  void *result;
  pthread_create(&a, 0, worker, 0);
  pthread_join(a, &result);
  x++;
  return result != &x || x != 2;
}
