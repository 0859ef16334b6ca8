// One task for each node of a list; each reads the next one's value, too.
// expect: race on node.value, lines 22 and 22
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
  for (struct node *node = head; node->next; node = node->next) {
#pragma omp task
    node->value += node->next->value;
  }
}
