// The racing write lies two hundred calls deep.
// expect: race on x, lines 9 and 22
#include <pthread.h>

int x;

__attribute__((noinline)) int deep(int depth) {
  if (depth == 0) {
    x = 1;
    return 0;
  }
  return deep(depth - 1) + 1;
}

void *worker(void *unused) {
  return deep(200) == 200 ? unused : &x;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  x = 2;
  pthread_join(a, 0);
}
