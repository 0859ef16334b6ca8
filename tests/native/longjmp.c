// longjmp leaves fifty calls at once; the stack of the race shown afterwards is that of main.
// expect: race on x, lines 18 and 28
// options: -Wno-infinite-recursion
#include <pthread.h>
#include <setjmp.h>

int x;
jmp_buf back;

__attribute__((noinline)) void deep(int depth) {
  if (depth == 0) {
    longjmp(back, 1);
  }
  deep(depth - 1);
}

void *worker(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  if (setjmp(back) == 0) {
    deep(50);
  }
  x = 2;
  pthread_join(a, 0);
}
