// String functions of the C library on strings of each thread's own, and on constants.
// expect: no race
// options: -fno-builtin
#include <pthread.h>
#include <stdio.h>
#include <string.h>

void *worker(void *unused) {
  char text[64];
  for (int i = 0; i < 50; i++) {
    strcpy(text, "one");
    strcat(text, ", two");
    snprintf(text + strlen(text), 20, ", %d", i);
    if (strcmp(text, "none") == 0 || strchr(text, ',') == 0) {
      return "wrong";
    }
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
