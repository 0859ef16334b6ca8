// Threads insert nodes at the head of a list.
// expect: race on head, lines 14 and 15
// expect: race on head, lines 15 and 15
#include <stdlib.h>

struct node {
  struct node *next;
} *head;

int main(void) {
#pragma omp parallel
  {
    struct node *node = malloc(sizeof *node);
    node->next = head;
    head = node;
  }
}
