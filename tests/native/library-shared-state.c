// Functions of the C library keep something that all threads share.
// expect: race on strtok's position, lines 36 and 46
// expect: race on *, lines 37 and 47
// expect: race on *, lines 38 and 48
// expect: race on *, lines 39 and 49
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

FILE *out;
char *volatile sink;

char one[] = "1 2", two[] = "1 2";
time_t moment;

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  strtok(one, " ");
  localtime(&moment);
  setenv("DEADHEAT_TEST", "1", 1);
  fputs("a", out);
  next();
  return unused;
}

void *second(void *unused) {
  await(1);
  strtok(two, " ");
  localtime(&moment);
  sink = getenv("HOME");
  fclose(out);
  return unused;
}

int main(void) {
  out = fopen("/dev/null", "w");
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
