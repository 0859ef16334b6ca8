// A thread-local variable that another thread writes to.
// variable: mine.used
#include <pthread.h>
#include <stddef.h>

struct mine {
  int size, used;
};
_Thread_local int other;
_Thread_local struct mine mine;

void *borrower(void *address) {
  *(int *)address += 1;
  return 0;
}

int main(void) {
  pthread_t a, b;
  other = 1;
  pthread_create(&a, 0, borrower, &mine.used);
  pthread_create(&b, 0, borrower, &mine.used);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return mine.used == 0;
}
