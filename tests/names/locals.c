// Local variables of functions that wait for the threads they have lent them to.
// variable: sum
// variable: totals[1].value
// variable: started
#include <pthread.h>

struct total {
  char name[8];
  long value;
};
struct lent {
  int *sum;
  struct total *total;
};

void *worker(void *address) {
  struct lent *lent = address;
  *lent->sum += 1;
  lent->total->value += 1;
  return 0;
}

void *starter(void *started) {
  *(int *)started += 1;
  return 0;
}

__attribute__((noinline)) int call(int seed) {
  pthread_t a, b;
  struct total totals[2] = {{"first", seed}, {"second", seed}};
  int sum = seed;
  struct lent lent = {&sum, &totals[1]};
  pthread_create(&a, 0, worker, &lent);
  pthread_create(&b, 0, worker, &lent);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return sum + (int)totals[1].value;
}

int main(void) {
  pthread_t a, b;
  int started = 0;
  pthread_create(&a, 0, starter, &started);
  pthread_create(&b, 0, starter, &started);
  int result = call(1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return result + started == 0;
}
