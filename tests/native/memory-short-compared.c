// What is short is compared in place of a call.
// expect: race on key, lines 10 and 17
// expect: race on name, lines 11 and 18
// options: -O2
#include <pthread.h>
#include <string.h>

char key[8], name[8], other[8];
static void *one(void *unused) {
  int same = memcmp(key, other, 8) == 0;
  same += strcmp(name, "main") == 0;
  volatile int result = same;
  (void)result;
  return unused;
}
static void *two(void *unused) {
  key[0] = 1;
  name[0] = 'm';
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
