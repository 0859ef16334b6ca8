// Producers push with release, consumers take the whole list with acquire, in one dynamic loop.
// expect: no race
#include <stdlib.h>
struct node { struct node *next; int value; };
static struct node *head;
static int sum;

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    if (i % 2) {
      struct node *node = malloc(sizeof *node);
      node->value = i;
      struct node *old = __atomic_load_n(&head, __ATOMIC_RELAXED);
      do node->next = old;
      while (!__atomic_compare_exchange_n(&head, &old, node, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    } else {
      struct node *list = __atomic_exchange_n(&head, 0, __ATOMIC_ACQUIRE);
      int mine = 0;
      while (list) {
        struct node *next = list->next;
        mine += list->value;
        free(list);
        list = next;
      }
#pragma omp atomic
      sum += mine;
    }
  }
  return 0;
}
