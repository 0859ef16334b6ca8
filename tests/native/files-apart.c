// Who writes to one file does not come before who reads another.
// expect: race on x, lines 13 and 26
// expect: race on y, lines 15 and 27
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int x, y, turn, written, other, devices[2];
FILE *lines, *others;

static void *first(void *unused) {
  x = 1;
  write(written, "a", 1);
  y = 1;
  fputs("a line\n", lines);
  fflush(lines);
  write(devices[0], "a", 1);
  __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
  return unused;
}

static void *second(void *unused) {
  char bytes[8];
  while (!__atomic_load_n(&turn, __ATOMIC_RELAXED)) usleep(100);
  if (read(other, bytes, 1) == 1 && read(devices[1], bytes, 1) == 1) x++;
  if (fgets(bytes, sizeof bytes, others)) y++;
  return unused;
}

int main(void) {
  pthread_t a, b;
  written = fileno(tmpfile());
  lines = tmpfile();
  others = tmpfile();
  fputs("a line\n", others);
  rewind(others);
  other = open("/proc/self/exe", O_RDONLY);
  devices[0] = open("/dev/null", O_WRONLY);
  devices[1] = open("/dev/zero", O_RDONLY);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
