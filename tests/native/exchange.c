// A mailbox of one pointer, exchanged with acquire and release.
// expect: no race
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int letters[100];
_Atomic(int *) mailbox;

void *sender(void *unused) {
  for (int i = 0; i < 100; i++) {
    letters[i] = i;
    int *empty = 0;
    while (!atomic_compare_exchange_strong(&mailbox, &empty, &letters[i])) {
      empty = 0;
      sched_yield();
    }
  }
  return unused;
}

int main(void) {
  pthread_t a;
  int sum = 0;
  pthread_create(&a, 0, sender, 0);
  for (int i = 0; i < 100;) {
    int *letter = atomic_exchange_explicit(&mailbox, 0, memory_order_acq_rel);
    if (letter) {
      sum += *letter;
      *letter = 0;
      i++;
    } else {
      sched_yield();
    }
  }
  pthread_join(a, 0);
  return sum != 4950;
}
