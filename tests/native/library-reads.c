// Functions of the C library read what another thread writes.
// expect: race on name, lines 55 and 73
// expect: race on late, lines 56 and 74
// expect: race on text, lines 57 and 75
// expect: race on digits, lines 58 and 76
// expect: race on decimals, lines 59 and 77
// expect: race on copied, lines 60 and 78
// expect: race on spanned, lines 61 and 79
// expect: race on format, lines 62 and 80
// expect: race on characters, lines 63 and 81
// expect: race on calendar, lines 64 and 82
// expect: race on moment, lines 65 and 83
// expect: race on path, lines 66 and 84
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

FILE *out;
volatile double sink;

char name[64] = "abc";
char late[64] = "abc";
char text[] = "12 abc";
char digits[] = "123";
char decimals[] = "1.5";
char copied[] = "abc";
char spanned[] = "123";
char format[] = "%d";
wchar_t characters[] = L"abc";
struct tm calendar;
time_t moment;
char path[] = "/";

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  fprintf(out, "%5d %f %s\n", 3, 1.0, name);
  fprintf(out, "%d%d%d%d%d%f%.2s\n", 1, 2, 3, 4, 5, 1.0, late);
  sscanf(text, "%d", &(int){0});
  sink += strtol(digits, 0, 10);
  sink += strtod(decimals, 0);
  free(strndup(copied, 2));
  sink += strspn(spanned, "123");
  fprintf(out, format, 1);
  sink += wcslen(characters);
  strftime((char[64]){0}, 64, "%Y", &calendar);
  gmtime_r(&moment, &(struct tm){0});
  stat(path, &(struct stat){0});
  next();
  return unused;
}

void *second(void *unused) {
  await(1);
  name[1] = 1;
  late[1] = 1;
  text[0] = 1;
  digits[1] = 1;
  decimals[1] = 1;
  copied[1] = 1;
  spanned[1] = 1;
  format[1] = 1;
  characters[1] = 1;
  calendar.tm_year = 1;
  moment = 1;
  path[0] = 1;
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
