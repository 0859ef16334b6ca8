// What comes through one pipe goes on through another, inside of the kernel.
// expect: no race
// options: -D_GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

int one[2], two[2], data;

static void *writer(void *unused) {
  data = 1;
  write(one[1], "x", 1);
  return unused;
}

static void *carrier(void *unused) {
  splice(one[0], 0, two[1], 0, 1, 0);
  return unused;
}

static void *reader(void *unused) {
  char byte;
  if (read(two[0], &byte, 1) == 1)
    data++;
  return unused;
}

int main(void) {
  pthread_t a, b, c;
  pipe(one);
  pipe(two);
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, carrier, 0);
  pthread_create(&c, 0, writer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
}
