// Variables of blocks that may share a place; and of a function that may be inlined.
// variable: first
// variable: second
// variable: inner.count
#include <pthread.h>

struct inner {
  int size, count;
};

#define TWICE(name)                                                                                                            \
  static void *add_to_##name(void *number) {                                                                                   \
    *(int *)number += 1;                                                                                                       \
    return 0;                                                                                                                  \
  }                                                                                                                            \
  static void name##_twice(int *number) {                                                                                      \
    pthread_t a, b;                                                                                                            \
    pthread_create(&a, 0, add_to_##name, number);                                                                              \
    pthread_create(&b, 0, add_to_##name, number);                                                                              \
    pthread_join(a, 0);                                                                                                        \
    pthread_join(b, 0);                                                                                                        \
  }

TWICE(first)
TWICE(second)
TWICE(count)

static inline int count(void) {
  struct inner inner = {1, 2};
  count_twice(&inner.count);
  return inner.count;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 0) {
    int first = argc;
    first_twice(&first);
    argc = first;
  }
  if (argc > 0) {
    int second = argc;
    second_twice(&second);
    argc = second;
  }
  return argc + count() == 0;
}
