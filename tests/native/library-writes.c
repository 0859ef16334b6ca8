// Functions of the C library leave their results where another thread writes.
// expect: race on sprinted, lines 78 and 106
// expect: race on snprinted, lines 79 and 107
// expect: race on pointer, lines 80 and 108
// expect: race on wide, lines 81 and 109
// expect: race on number, lines 82 and 110
// expect: race on word, lines 83 and 111
// expect: race on sorted, lines 84 and 112
// expect: race on calendar, lines 85 and 113
// expect: race on clock_time, lines 86 and 114
// expect: race on day_time, lines 87 and 115
// expect: race on seconds, lines 88 and 116
// expect: race on status, lines 89 and 117
// expect: race on directory, lines 90 and 118
// expect: race on link_text, lines 91 and 119
// expect: race on date, lines 92 and 120
// expect: race on rest, lines 93 and 121
// expect: race on cut, lines 94 and 122
// expect: race on seed, lines 95 and 123
// expect: race on fraction, lines 96 and 124
// expect: race on characters, lines 97 and 125
// expect: race on buffer, lines 98 and 126
// expect: race on line_text, lines 99 and 127
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
FILE *lines;
volatile double sink;

int compare(const void *a, const void *b) { return a == b; }

char sprinted[64];
char snprinted[64];
char *pointer;
wchar_t wide[64];
int number;
char word[8];
int sorted[8] = {5, 4, 3, 2, 1};
struct tm calendar;
struct timespec clock_time;
struct timeval day_time;
time_t seconds;
struct stat status;
char directory[4096];
char link_text[64];
char date[64];
char *rest;
char cut[] = "one two";
unsigned seed;
double fraction;
wchar_t characters[8];
char buffer[8];
char *line_text;

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  sprintf(sprinted, "%d", 7);
  snprintf(snprinted, 64, "%d-%f", 7, 1.5);
  asprintf(&pointer, "%d", 7);
  swprintf(wide, 64, L"%d", 7);
  sscanf("12 abc", "%d", &number);
  sscanf("12 abc", "%*d %7s", word);
  qsort(sorted, 8, sizeof(int), compare);
  localtime_r(&(time_t){1000}, &calendar);
  clock_gettime(CLOCK_MONOTONIC, &clock_time);
  gettimeofday(&day_time, 0);
  time(&seconds);
  stat("/", &status);
  getcwd(directory, 4096);
  readlink("/proc/self/exe", link_text, 64);
  strftime(date, 64, "%Y", &(struct tm){0});
  strtol("12", &rest, 10);
  strtok_r(cut, " ", &(char *){0});
  rand_r(&seed);
  sink += modf(1.5, &fraction);
  wcscpy(characters, L"abc");
  read(zero, buffer, 8);
  getline(&line_text, &(size_t){0}, lines);
  next();
  return unused;
}

void *second(void *unused) {
  await(1);
  sprinted[0] = 1;
  snprinted[4] = 1;
  pointer = 0;
  wide[0] = 1;
  number = 1;
  word[1] = 1;
  sorted[7] = 1;
  calendar.tm_year = 1;
  clock_time.tv_sec = 1;
  day_time.tv_sec = 1;
  seconds = 1;
  status.st_size = 1;
  directory[0] = 1;
  link_text[0] = 1;
  date[0] = 1;
  rest = 0;
  cut[3] = 1;
  seed = 1;
  fraction = 1;
  characters[1] = 1;
  buffer[7] = 1;
  line_text = 0;
  return unused;
}

int main(void) {
  zero = open("/dev/zero", O_RDONLY);
  lines = fopen("/etc/passwd", "r");
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
