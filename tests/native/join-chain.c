// Each thread starts and joins the next: one chain, one order.
// expect: no race
#include <pthread.h>

int x;

void *link(void *depth) {
  x++;
  if ((long)depth > 0) {
    pthread_t next;
    pthread_create(&next, 0, link, (void *)((long)depth - 1));
    pthread_join(next, 0);
  }
  x++;
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, link, (void *)20);
  pthread_join(a, 0);
  return x != 42;
}
