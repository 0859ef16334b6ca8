// Two million private accesses lie between the racing ones and the rest of each thread.
// expect: race on x, lines 15 and 22
#include <pthread.h>

int x;
int work[2][1024];

void spend(int *mine) {
  for (int i = 0; i < 1000000; i++) {
    mine[i % 1024] += i;
  }
}

void *early(void *unused) {
  x = 1;
  spend(work[0]);
  return unused;
}

void *late(void *unused) {
  spend(work[1]);
  x = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, early, 0);
  pthread_create(&b, 0, late, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
