// Threads insert nodes at the head of a list, one at a time.
// expect: no race
#include <stdlib.h>

struct node {
  struct node *next;
} *head;

int main(void) {
#pragma omp parallel
  {
    struct node *node = malloc(sizeof *node);
#pragma omp critical
    {
      node->next = head;
      head = node;
    }
  }
  while (head) {
    struct node *next = head->next;
    free(head);
    head = next;
  }
}
