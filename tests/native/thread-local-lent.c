// A thread lends its thread-local variable and waits until it has it back.
// expect: no race
#include <pthread.h>
#include <semaphore.h>

_Thread_local int mine;
int *lent;
sem_t taken, returned;

void *borrower(void *unused) {
  sem_wait(&taken);
  ++*lent;
  sem_post(&returned);
  return unused;
}

void *owner(void *unused) {
  mine = 1;
  lent = &mine;
  sem_post(&taken);
  sem_wait(&returned);
  return mine == 2 ? unused : &lent;
}

int main(void) {
  pthread_t a, b;
  void *result;
  sem_init(&taken, 0, 0);
  sem_init(&returned, 0, 0);
  pthread_create(&a, 0, borrower, 0);
  pthread_create(&b, 0, owner, 0);
  pthread_join(b, &result);
  pthread_join(a, 0);
  return result != 0;
}
