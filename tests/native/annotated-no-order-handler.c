// While a thread's synchronisation is not to count, a handler runs on it: what that does counts.
// expect: no race
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);

int data;
atomic_int ready;

void handle(int number) {
  data = number;
  atomic_store_explicit(&ready, 1, memory_order_release);
}

void *one(void *unused) {
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  raise(SIGUSR1);
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  return unused;
}

int main(void) {
  pthread_t a;
  signal(SIGUSR1, handle);
  pthread_create(&a, 0, one, 0);
  while (!atomic_load_explicit(&ready, memory_order_acquire)) usleep(100);
  data++;
  pthread_join(a, 0);
  return data != SIGUSR1 + 1;
}
