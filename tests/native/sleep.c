// Sleeping long enough is not synchronisation.
// expect: race on x, lines 9 and 17
#include <pthread.h>
#include <unistd.h>

int x;

void *writer(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, writer, 0);
  usleep(50000);
  x = 2;
  pthread_join(a, 0);
}
