// pthread_join orders all the thread did before what follows.
// expect: no race
#include <pthread.h>

int x;

void *writer(void *unused) {
  x = 42;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, writer, 0);
  pthread_join(a, 0);
  x++;
  return x != 43;
}
