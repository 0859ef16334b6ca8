// The handle is written before the new thread begins: it may read its own.
// expect: no race
#include <pthread.h>

pthread_t handle;

static void *worker(void *unused) {
  return pthread_equal(handle, pthread_self()) ? unused : &handle;
}

int main(void) {
  void *wrong;
  pthread_create(&handle, 0, worker, 0);
  pthread_join(handle, &wrong);
  return wrong != 0;
}
