// C11's own threads race like any others.
// expect: race on x, lines 9 and 16
#include <threads.h>

int x;

int worker(void *unused) {
  (void)unused;
  x = 1;
  return 0;
}

int main(void) {
  thrd_t a;
  thrd_create(&a, worker, 0);
  x = 2;
  thrd_join(a, 0);
}
