// A tree of the C library is the program's to keep apart: one thread inserts while another searches.
// expect: race on tree, lines 12 and 17
#include <pthread.h>
#include <search.h>
#include <string.h>

void *tree;

static int compare(const void *a, const void *b) { return strcmp(a, b); }

static void *inserter(void *unused) {
  tsearch("b", &tree, compare);
  return unused;
}

static void *searcher(void *unused) {
  tfind("a", &tree, compare);
  return unused;
}

int main(void) {
  pthread_t a, b;
  tsearch("a", &tree, compare);
  pthread_create(&a, 0, inserter, 0);
  pthread_create(&b, 0, searcher, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
