// Two accesses of four bytes that overlap in two, neither aligned.
// expect: race on bytes[5], lines 13 and 18
#include <pthread.h>
#include <stdint.h>

char bytes[16] __attribute__((aligned(16)));

struct __attribute__((packed)) unaligned {
  uint32_t value;
};

void *first(void *unused) {
  ((struct unaligned *)(bytes + 3))->value = 1;
  return unused;
}

void *second(void *unused) {
  ((struct unaligned *)(bytes + 5))->value = 2;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
