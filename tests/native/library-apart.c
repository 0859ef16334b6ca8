// Functions of the C library read and write no more than they must.
// expect: no race
// options: -fno-builtin
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

int zero;
FILE *out;
volatile double sink;

int compare(const void *a, const void *b) { return a == b; }

char printed[64];
char full[64];
char cut[64] = "abcdef";
char digits[] = "12 34";
int numbers[2];
char word[8];
int alone[1];
char setting[] = "DEADHEAT_TEST=1";
char token[] = "one two";
char bytes[8];

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  snprintf(printed, 64, "%d", 7);
  snprintf(full, 8, "%s", "123456789");
  fprintf(out, "%.*s%.3s\n", 2, cut, cut);
  sink += strtol(digits, 0, 10);
  sscanf("12 abc", "%d %d", &numbers[0], &numbers[1]);
  sscanf("ab", "%7s", word);
  qsort(alone, 1, sizeof(int), compare);
  putenv(setting);
  strtok_r(token, " ", &(char *){0});
  read(zero, bytes, 4);
  next();
  return unused;
}

void *second(void *unused) {
  await(1);
  printed[2] = 1;
  full[8] = 1;
  cut[3] = 1;
  digits[3] = 1;
  numbers[1] = 1;
  word[3] = 1;
  alone[0] = 1;
  setting[14] = 50;
  token[4] = 1;
  bytes[4] = 1;
  return unused;
}

int main(void) {
  zero = open("/dev/zero", O_RDONLY);
  out = fopen("/dev/null", "w");
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
