// Starting another program, from a thread, while others work.
// expect: no race
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
  }
  return unused;
}

void *spawner(void *result) {
  pid_t child;
  char *arguments[] = {"true", 0};
  int status = -1;
  if (posix_spawnp(&child, "true", 0, 0, arguments, environ) == 0) {
    waitpid(child, &status, 0);
  }
  *(int *)result = status;
  return 0;
}

int main(void) {
  pthread_t a, b;
  int result;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, spawner, &result);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return result != 0 || x != 100;
}
