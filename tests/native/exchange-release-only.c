// Who takes from the mailbox with release alone does not acquire what lies in it.
// expect: race on letter, lines 11 and 24
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int letter;
_Atomic(int *) mailbox;

void *sender(void *unused) {
  letter = 1;
  atomic_store_explicit(&mailbox, &letter, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t a;
  int *taken = 0;
  pthread_create(&a, 0, sender, 0);
  while (!taken) {
    sched_yield();
    taken = atomic_exchange_explicit(&mailbox, 0, memory_order_release);
  }
  *taken = 2;
  pthread_join(a, 0);
}
