// An atomic increment races with a plain write.
// expect: race on x, lines 8 and 13
#include <pthread.h>

int x;

void *atomic_one(void *unused) {
  __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);
  return unused;
}

void *plain_one(void *unused) {
  x = 7;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, atomic_one, 0);
  pthread_create(&b, 0, plain_one, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
