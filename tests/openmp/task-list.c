// One task for each node of a list; each writes to its own.
// expect: no race
// threads: 1 2 4 16
#include <stdlib.h>

struct node {
  int value;
  struct node *next;
};

int main(void) {
  struct node *head = 0;
  for (int i = 0; i < 30; i++) {
    struct node *node = malloc(sizeof *node);
    *node = (struct node){i, head};
    head = node;
  }
#pragma omp parallel
#pragma omp single
  for (struct node *node = head; node; node = node->next) {
#pragma omp task
    node->value *= 2;
  }
  int sum = 0;
  while (head) {
    struct node *next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  return sum != 870;
}
