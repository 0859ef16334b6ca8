// Two threads that run the same function at once. Its accesses are told apart by the variables.
#include <pthread.h>

#define RACE(function)                                                                                                         \
  int main(void) {                                                                                                             \
    pthread_t a, b;                                                                                                            \
    int one = 1;                                                                                                               \
    pthread_create(&a, 0, function, &one);                                                                                     \
    pthread_create(&b, 0, function, &one);                                                                                     \
    pthread_join(a, 0);                                                                                                        \
    pthread_join(b, 0);                                                                                                        \
    return 0;                                                                                                                  \
  }
