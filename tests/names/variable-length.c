// An array whose length is known when the program runs.
// variable: numbers[5]
// except: -O1 -O2: where it is, is kept in a register
#include <pthread.h>

void *add(void *number) {
  *(int *)number += 1;
  return 0;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t a, b;
  int numbers[argc + 9];
  for (int i = 0; i < argc + 9; i++) {
    numbers[i] = i;
  }
  pthread_create(&a, 0, add, &numbers[5]);
  pthread_create(&b, 0, add, &numbers[5]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return numbers[5] == 0;
}
