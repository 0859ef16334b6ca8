// users: a dense matrix product and sums of prefixes, each thread its rows, barriers between.
#include <pthread.h>

enum { THREADS = 2, SIZE = 192, ROUNDS = 40, LONG = 1 << 18 };
static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
static long numbers[LONG], sums[THREADS + 1];
static pthread_barrier_t barrier;

static void *work(void *argument) {
  long who = (long)argument;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = who * SIZE / THREADS; i < (who + 1) * SIZE / THREADS; i++) {
      for (int j = 0; j < SIZE; j++) {
        double sum = 0;
        for (int k = 0; k < SIZE; k++) {
          sum += a[i][k] * b[k][j];
        }
        c[i][j] = sum;
      }
    }
    long from = who * LONG / THREADS, to = (who + 1) * LONG / THREADS, sum = 0;
    for (long i = from; i < to; i++) {
      numbers[i] = sum += i % 7;
    }
    sums[who + 1] = sum;
    pthread_barrier_wait(&barrier);
    long before = 0;
    for (int i = 0; i <= who; i++) {
      before += sums[i];
    }
    for (long i = from; i < to; i++) {
      numbers[i] += before;
    }
    pthread_barrier_wait(&barrier);
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  long expected = 0;
  for (int i = 0; i < SIZE; i++) {
    for (int j = 0; j < SIZE; j++) {
      a[i][j] = i + j, b[i][j] = i == j;
    }
  }
  pthread_barrier_init(&barrier, 0, THREADS);
  for (long i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, work, (void *)i);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
  }
  for (long i = 0; i < LONG; i++) {
    expected += i % 7;
  }
  return c[3][5] == 8 && numbers[LONG - 1] == expected ? 0 : 1;
}
