// A loop becomes one of vectors: clang tells of no access wider than 16 bytes.
// expect: race on a, lines 10 and 21
// options: -O2
#include <pthread.h>

float a[1024], b[1024];
int is_wide;

#define LOOP(name) static void name(void) { for (int i = 0; i < 1024; i++) a[i] = b[i] * 2; }
LOOP(narrow) __attribute__((target("avx2"))) LOOP(wide)

static void *loop(void *unused) {
  if (is_wide)
    wide();
  else
    narrow();
  return unused;
}

static void *one(void *unused) {
  a[777] = 3;
  return unused;
}

int main(void) {
  pthread_t x, y;
  is_wide = __builtin_cpu_supports("avx2");
  pthread_create(&x, 0, loop, 0);
  pthread_create(&y, 0, one, 0);
  pthread_join(x, 0);
  pthread_join(y, 0);
}
