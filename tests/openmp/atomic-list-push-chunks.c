// Chunks push nodes on a list by compare and swap with release; one thread walks it after the barrier.
// expect: no race
#include <stdlib.h>
struct node { struct node *next; int value; };
static struct node *head;

int main(void) {
  int sum = 0;
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 32; i++) {
    struct node *node = malloc(sizeof *node);
    node->value = i;
    struct node *old = __atomic_load_n(&head, __ATOMIC_RELAXED);
    do node->next = old;
    while (!__atomic_compare_exchange_n(&head, &old, node, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  }
  for (struct node *n = head; n; n = n->next) sum += n->value;
  return sum != 496;
}
