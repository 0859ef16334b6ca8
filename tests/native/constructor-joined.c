// Constructor and destructor functions run in main's thread, before and after main.
// expect: no race
#include <pthread.h>
#include <unistd.h>

int x;

void *worker(void *unused) {
  x++;
  return unused;
}

void run(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  pthread_join(a, 0);
}

__attribute__((constructor)) void before(void) {
  run();
}

__attribute__((destructor)) void after(void) {
  run();
  if (x != 4) {
    _exit(1);
  }
}

int main(void) {
  x++;
  run();
  return 0;
}
