// Threads that switch between stacks of their own by swapcontext.
// expect: no race
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 1 << 16, ROUNDS = 50 };
struct fiber {
  ucontext_t own, back;
  long count;
};
static __thread struct fiber *current;

long deep(long depth) {
  if (depth == 0) {
    swapcontext(&current->own, &current->back);
    return 0;
  }
  return deep(depth - 1) + 1;
}

void body(void) {
  for (int i = 0; i < ROUNDS; i++) {
    current->count += deep(20);
  }
}

void *work(void *unused) {
  struct fiber fiber = {0};
  getcontext(&fiber.own);
  fiber.own.uc_stack.ss_sp = malloc(STACK);
  fiber.own.uc_stack.ss_size = STACK;
  fiber.own.uc_link = &fiber.back;
  makecontext(&fiber.own, body, 0);
  current = &fiber;
  for (int i = 0; i <= ROUNDS; i++) {
    swapcontext(&fiber.back, &fiber.own);
  }
  return fiber.count == 20 * ROUNDS ? unused : "wrong";
}

int main(void) {
  pthread_t a, b;
  void *results[2];
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, &results[0]);
  pthread_join(b, &results[1]);
  return results[0] || results[1];
}
