// Main lends a thread its own structure, and changes a part of it while the thread does; main's array is read so.
// expect: race on *, lines 15 and 26
// expect: race on *, lines 16 and 27
// options: -O1
#include <pthread.h>

struct job {
  int number;
  int result;
  int *table;
};

void *worker(void *argument) {
  struct job *job = argument;
  job->result = 1;
  job->table[2] = 1;
  return 0;
}

int main(void) {
  int table[4] = {0, 0, 0, 0};
  struct job own = {0, 0, table};
  pthread_t a;
  own.number = 5;
  pthread_create(&a, 0, worker, &own);
  own.result = 2;
  int seen = table[2];
  pthread_join(a, 0);
  return own.number + own.result + seen == 0;
}
