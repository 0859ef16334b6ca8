// Two threads of the forked process race.
// expect: race on x, lines 11 and 20
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int x;

void *worker(void *unused) {
  x = 1;
  return unused;
}

int main(void) {
  pid_t child = fork();
  if (child == 0) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    x = 2;
    pthread_join(a, 0);
    exit(0);
  }
  waitpid(child, 0, 0);
}
