// The forked process starts threads of its own, and locks what the parent also locks.
// expect: no race
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_unlock(&m);
  return unused;
}

int run(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return x;
}

int main(void) {
  int before = run();
  pid_t child = fork();
  if (child == 0) {
    exit(run());
  }
  int status;
  waitpid(child, &status, 0);
  return before != 2 || WEXITSTATUS(status) != 4;
}
