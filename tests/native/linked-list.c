// A list under a mutex, and a thread that walks it without.
// expect: race on head, lines 16 and 22
#include <pthread.h>
#include <stdlib.h>

struct node {
  struct node *next;
};

struct node *head;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *adder(void *unused) {
  struct node *node = calloc(1, sizeof *node);
  pthread_mutex_lock(&m);
  head = node;
  pthread_mutex_unlock(&m);
  return unused;
}

void *walker(void *unused) {
  return head ? unused : 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, adder, 0);
  pthread_create(&b, 0, walker, &a);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
