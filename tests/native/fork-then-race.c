// A fork between the accesses changes nothing for the parent.
// expect: race on x, lines 10 and 22
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int x;

void *worker(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  waitpid(child, 0, 0);
  x = 2;
  pthread_join(a, 0);
}
