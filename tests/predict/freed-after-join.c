// The same, freed when nobody can use it any more.
// expect: no race
#include <pthread.h>
#include <stdlib.h>

#include "schedule.h"

int *message;
int sent, cleaned;
pthread_mutex_t counters = PTHREAD_MUTEX_INITIALIZER;

void *send(void *unused) {
  wait_for(1);
  message[0] = 1;
  pthread_mutex_lock(&counters);
  sent = 1;
  pthread_mutex_unlock(&counters);
  pass(2);
  return unused;
}

void clean_up(void) {
  pthread_mutex_lock(&counters);
  cleaned = 1;
  pthread_mutex_unlock(&counters);
  free(message);
}

int main(void) {
  pthread_t a;
  message = malloc(16);
  pthread_create(&a, 0, send, 0);
  pass(1);
  wait_for(2);
  pthread_join(a, 0);
  clean_up();
}
