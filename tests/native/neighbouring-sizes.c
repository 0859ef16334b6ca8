// A byte, two bytes and four bytes in one word, each with a thread of its own.
// expect: no race
#include <pthread.h>

struct {
  char one, spare;
  short two;
  int four;
} word;

void *first(void *unused) {
  word.one = 1;
  word.spare = word.one;
  return unused;
}

void *second(void *unused) {
  word.two = 2;
  return unused;
}

void *third(void *unused) {
  word.four = 4;
  return unused;
}

int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_create(&c, 0, third, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  return word.one + word.two + word.four != 7;
}
