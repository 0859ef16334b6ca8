// strcpy writes a string that another thread reads.
// expect: race on name, lines 10 and 17
// options: -fno-builtin
#include <pthread.h>
#include <string.h>

char name[16], copy;

void *copier(void *text) {
  strcpy(name, text);
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, copier, "deadheat");
  copy = name[1];
  pthread_join(a, 0);
}
