// Frames of finished calls lie where others' did: a thread that calls again writes to its own stack only.
// expect: no race
#include <pthread.h>

int none;

int deep(int depth) {
  volatile int here = depth;
  return depth == 0 ? here : here + deep(depth - 1);
}

void *worker(void *unused) {
  int sum = 0;
  for (int i = 0; i < 50; i++) {
    sum += deep(i);
  }
  return sum ? unused : &none;
}

int main(void) {
  pthread_t threads[4];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++) {
      pthread_create(&threads[i], 0, worker, 0);
    }
    for (int i = 0; i < 4; i++) {
      pthread_join(threads[i], 0);
    }
  }
  return 0;
}
