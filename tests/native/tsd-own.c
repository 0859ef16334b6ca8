// Thread-specific data: each thread writes its own block, its destructor frees it.
// expect: no race
#include <pthread.h>
#include <stdlib.h>

pthread_key_t key;

void *worker(void *unused) {
  int *mine = malloc(sizeof(int));
  *mine = 1;
  pthread_setspecific(key, mine);
  for (int i = 0; i < 100; i++) {
    ++*(int *)pthread_getspecific(key);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_key_create(&key, free);
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_key_delete(key);
  return 0;
}
