// Two threads go over one array in opposite directions and meet in one element.
// expect: race on array[7], lines 9 and 16
#include <pthread.h>

int array[15];

void *up(void *unused) {
  for (int i = 0; i <= 7; i++) {
    array[i] += 1;
  }
  return unused;
}

void *down(void *unused) {
  for (int i = 14; i >= 7; i--) {
    array[i] += 1;
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, up, 0);
  pthread_create(&b, 0, down, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
