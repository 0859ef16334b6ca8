// strlen reads a string that another thread writes.
// expect: race on name, lines 11 and 18
// options: -fno-builtin
#include <pthread.h>
#include <string.h>

char name[16] = "deadheat";
size_t length;

void *measurer(void *unused) {
  length = strlen(name);
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, measurer, 0);
  name[2] = 'A';
  pthread_join(a, 0);
}
