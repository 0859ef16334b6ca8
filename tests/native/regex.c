// regexec reads the expression that another thread changes.
// expect: race on expression, lines 10 and 17
#include <pthread.h>
#include <regex.h>

regex_t expression;
pthread_barrier_t both;
static void *finds(void *unused) {
  pthread_barrier_wait(&both);
  regexec(&expression, "abc", 0, 0, 0);
  return unused;
}

static void *changes(void *unused) {
  pthread_barrier_wait(&both);
  regex_t *shared = &expression;
  shared->re_nsub = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  regcomp(&expression, "b", 0);
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&a, 0, finds, 0);
  pthread_create(&b, 0, changes, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
