// hard: a hundred thousand distinct races: 320 functions of one thread against 320 of another.
#include <pthread.h>

enum { SITES = 320 };
static char cells[SITES][SITES];

#define SITE(n)                                                                                        \
  __attribute__((noinline)) static void row##n(int row) {                                              \
    for (int i = 0; i < SITES; i++) cells[row][i] = 1;                                                 \
  }                                                                                                    \
  __attribute__((noinline)) static void column##n(int column) {                                        \
    for (int i = 0; i < SITES; i++) cells[i][column] = 2;                                              \
  }
#define TEN(n) SITE(n##0) SITE(n##1) SITE(n##2) SITE(n##3) SITE(n##4) SITE(n##5) SITE(n##6) SITE(n##7) SITE(n##8) SITE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(1) HUNDRED(2) HUNDRED(3) TEN(40) TEN(41)

#define CALL(kind, n) kind##n(site++);
#define CALL_TEN(kind, n) CALL(kind, n##0) CALL(kind, n##1) CALL(kind, n##2) CALL(kind, n##3) CALL(kind, n##4) \
  CALL(kind, n##5) CALL(kind, n##6) CALL(kind, n##7) CALL(kind, n##8) CALL(kind, n##9)
#define CALL_HUNDRED(kind, n) CALL_TEN(kind, n##0) CALL_TEN(kind, n##1) CALL_TEN(kind, n##2) CALL_TEN(kind, n##3) \
  CALL_TEN(kind, n##4) CALL_TEN(kind, n##5) CALL_TEN(kind, n##6) CALL_TEN(kind, n##7) CALL_TEN(kind, n##8) CALL_TEN(kind, n##9)
#define CALL_ALL(kind) CALL_HUNDRED(kind, 1) CALL_HUNDRED(kind, 2) CALL_HUNDRED(kind, 3) CALL_TEN(kind, 40) CALL_TEN(kind, 41)

static void *columns(void *unused) {
  int site = 0;
  CALL_ALL(column)
  return unused;
}

int main(void) {
  pthread_t thread;
  int site = 0;
  pthread_create(&thread, 0, columns, 0);
  CALL_ALL(row)
  pthread_join(thread, 0);
  return cells[5][5] == 0;
}
