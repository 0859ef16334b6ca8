// A lost update: `counter++` by two threads.
// expect: race on counter, lines 9 and 9
#include <pthread.h>

volatile long counter;

void *count(void *unused) {
  for (int i = 0; i < 1000; i++) {
    counter++;
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0);
  pthread_create(&b, 0, count, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
