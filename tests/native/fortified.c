// Functions that check their arguments first, where _FORTIFY_SOURCE is defined.
// expect: race on copied, lines 29 and 38
// expect: race on text, lines 30 and 39
// expect: race on printed, lines 31 and 40
// options: -O2 -D_FORTIFY_SOURCE=2
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char from[64];
volatile int number = 20;
char copied[64];
char text[64];
char printed[64];

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  memcpy(copied, from, number);
  strcpy(text, from);
  sprintf(printed, "%d", number);
  next();
  return unused;
}

void *second(void *unused) {
  await(1);
  copied[0] = 1;
  text[0] = 1;
  printed[0] = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
