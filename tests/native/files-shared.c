// Who reads a file comes after who wrote to it, by another descriptor or through a stream; so does who reads a terminal.
// expect: no race
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILES, COPIED, STREAMS, TERMINAL, WAYS };
int x[WAYS], from[WAYS], to[WAYS];
FILE *lines;

static void *first(void *unused) {
  for (int way = 0; way < WAYS; way++) {
    x[way] = 1;
    if (way == STREAMS) {
      fprintf(lines, "a line\n");
      fclose(lines);
    } else {
      write(to[way], "a\n", 2);
    }
  }
  return unused;
}

static void *second(void *unused) {
  char bytes[8];
  for (int way = 0; way < WAYS; way++) {
    while (read(from[way], bytes, 1) != 1) usleep(100);
    x[way]++;
  }
  return unused;
}

static int again(int file) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return open(path, O_RDONLY);
}

int main(void) {
  pthread_t a, b;
  to[FILES] = fileno(tmpfile());
  from[FILES] = again(to[FILES]);
  int copy = memfd_create("copy", 0);
  to[COPIED] = fcntl(copy, F_DUPFD, 50);
  from[COPIED] = again(copy);
  lines = tmpfile();
  from[STREAMS] = again(fileno(lines));
  to[TERMINAL] = posix_openpt(O_RDWR | O_NOCTTY);
  grantpt(to[TERMINAL]);
  unlockpt(to[TERMINAL]);
  from[TERMINAL] = open(ptsname(to[TERMINAL]), O_RDONLY | O_NOCTTY);
  pthread_create(&a, 0, second, 0);
  pthread_create(&b, 0, first, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
