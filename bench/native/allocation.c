// kind: four threads build and free lists.
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 12000, LENGTH = 60 };
struct node {
  struct node *next;
  long value;
};

static void *work(void *result) {
  long sum = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct node *list = 0;
    for (int i = 0; i < LENGTH; i++) {
      struct node *node = malloc(sizeof *node + i % 5 * 16);
      node->next = list;
      node->value = i;
      list = node;
    }
    while (list) {
      struct node *next = list->next;
      sum += list->value;
      free(list);
      list = next;
    }
  }
  *(long *)result = sum;
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  long sums[THREADS], sum = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, work, &sums[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
    sum += sums[i];
  }
  return sum != (long)THREADS * ROUNDS * LENGTH * (LENGTH - 1) / 2;
}
