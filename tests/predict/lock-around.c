// The same with the writes inside the sections.
// expect: no race
#include <pthread.h>

#include "schedule.h"

int balance;
int deposited, audited;
pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;

void *deposit(void *unused) {
  pthread_mutex_lock(&statistics);
  balance = 100;
  deposited = 1;
  pthread_mutex_unlock(&statistics);
  pass(1);
  return unused;
}

void *audit(void *unused) {
  wait_for(1);
  pthread_mutex_lock(&statistics);
  audited = 1;
  balance = 0;
  pthread_mutex_unlock(&statistics);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, deposit, 0);
  pthread_create(&b, 0, audit, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
