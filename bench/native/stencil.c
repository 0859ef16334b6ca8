// kind: four threads smooth an array between barriers.
#include <pthread.h>

enum { N = 200000, THREADS = 4, PHASES = 120 };
static float cells[2][N];
static pthread_barrier_t meeting;

static void *smooth(void *argument) {
  long me = (long)argument;
  long from = me * N / THREADS, to = (me + 1) * N / THREADS;
  for (int phase = 0; phase < PHASES; phase++) {
    float *old = cells[phase % 2], *new = cells[1 - phase % 2];
    for (long i = from; i < to; i++) {
      float left = old[i ? i - 1 : i], right = old[i + 1 < N ? i + 1 : i];
      new[i] = (left + old[i] + right) / 3;
    }
    pthread_barrier_wait(&meeting);
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&meeting, 0, THREADS);
  for (int i = 0; i < N; i++) {
    cells[0][i] = 1;
  }
  for (long i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, smooth, (void *)i);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], 0);
  }
  return cells[PHASES % 2][N / 2] < 0.9f;
}
