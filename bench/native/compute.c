// kind: two threads multiply matrices of their own half.
#include <pthread.h>
#include <stdio.h>

enum { N = 320 };
static double a[N][N], b[N][N], c[N][N];

static void *multiply(void *argument) {
  long half = (long)argument;
  for (int i = half * N / 2; i < (half + 1) * N / 2; i++) {
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) {
        sum += a[i][k] * b[k][j];
      }
      c[i][j] = sum;
    }
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      a[i][j] = i;
      b[i][j] = i == j;
    }
  }
  for (int round = 0; round < 2; round++) {
    for (long i = 0; i < 2; i++) {
      pthread_create(&threads[i], 0, multiply, (void *)i);
    }
    for (int i = 0; i < 2; i++) {
      pthread_join(threads[i], 0);
    }
  }
  return c[7][9] != 7;
}
