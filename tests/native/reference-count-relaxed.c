// A reference count decremented relaxed: the last owner writes while others' reads are not ordered before.
// expect: race on value, lines 10 and 12
#include <pthread.h>
#include <stdatomic.h>

atomic_int owners = 2;
int value, copies[2];

void *owner(void *copy) {
  *(int *)copy = value;
  if (atomic_fetch_sub_explicit(&owners, 1, memory_order_relaxed) == 1) {
    value = -1;
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, owner, &copies[0]);
  pthread_create(&b, 0, owner, &copies[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
