// The member of a union that an access fits; where two fit, the union. What has no name of its own is folded.
// variable: word.bytes[3]
// variable: words.whole
// variable: either
// variable: value.kind
// variable: value.number
// variable: inner.x
#include "race.h"

union {
  char bytes[8];
  long whole;
} word, words;
union {
  int number;
  float real;
} either;
struct {
  int kind;
  union {
    long number;
    char letter;
  };
} value;
struct {
  struct {
    int x, y;
  };
  int z;
} inner;

void *bytes(void *one) {
  word.bytes[3] = *(int *)one;
  return 0;
}

void *whole(void *one) {
  word.whole = *(int *)one;
  return 0;
}

void *worker(void *which) {
  int *one = which;
  words.whole = *one;
  either.number = *one;
  value.kind = *one;
  value.number = *one;
  inner.x = *one;
  return 0;
}

int main(void) {
  pthread_t a, b, c, d;
  int one = 1;
  pthread_create(&a, 0, worker, &one);
  pthread_create(&b, 0, worker, &one);
  pthread_create(&c, 0, bytes, &one);
  pthread_create(&d, 0, whole, &one);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  pthread_join(d, 0);
  return 0;
}
