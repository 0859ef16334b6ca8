// Unaligned accesses side by side do not overlap.
// expect: no race
#include <pthread.h>
#include <stdint.h>

char bytes[16] __attribute__((aligned(16)));

struct __attribute__((packed)) unaligned {
  uint32_t value;
};

void *worker(void *place) {
  ((struct unaligned *)place)->value++;
  return 0;
}

int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, worker, bytes + 1);
  pthread_create(&b, 0, worker, bytes + 5);
  pthread_create(&c, 0, worker, bytes + 9);
  bytes[0] = 1;
  bytes[13] = 1;
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  return 0;
}
