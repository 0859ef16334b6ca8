// A forked process has memory of its own: what it writes races with nothing here.
// expect: no race
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int x, y;

void *worker(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  pid_t child = fork();
  if (child == 0) {
    x = 2;
    y = 3;
    _exit(7);
  }
  int status;
  waitpid(child, &status, 0);
  pthread_join(a, 0);
  return y != 0 || x != 1 || WEXITSTATUS(status) != 7;
}
