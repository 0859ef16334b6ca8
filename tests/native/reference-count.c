// The last owner frees: the count is decremented with acquire and release.
// expect: no race
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
  atomic_int owners;
  int value;
};

void *owner(void *argument) {
  struct object *object = argument;
  int seen = object->value;
  if (atomic_fetch_sub_explicit(&object->owners, 1, memory_order_acq_rel) == 1) {
    object->value = seen + 1;
    free(object);
  }
  return 0;
}

int main(void) {
  pthread_t threads[4];
  struct object *object = malloc(sizeof *object);
  atomic_init(&object->owners, 4);
  object->value = 1;
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], 0, owner, object);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], 0);
  }
  return 0;
}
