// The second section reads what the first wrote: it cannot come first and have read that.
// expect: no race
#include <pthread.h>

#include "schedule.h"

int balance;
int deposited;
pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;

void *deposit(void *unused) {
  balance = 100;
  pthread_mutex_lock(&statistics);
  deposited = 1;
  pthread_mutex_unlock(&statistics);
  pass(1);
  return unused;
}

void *audit(void *unused) {
  wait_for(1);
  pthread_mutex_lock(&statistics);
  int ready = deposited;
  pthread_mutex_unlock(&statistics);
  if (ready) {
    balance = 0;
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, deposit, 0);
  pthread_create(&b, 0, audit, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
