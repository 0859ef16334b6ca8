// tasks: quicksort, a task for each part, of what a taskloop has filled in.
#include <stdio.h>

enum { N = 1 << 20, SMALL = 64, ROUNDS = 2 };
static unsigned data[N];

static unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  return x ^ x >> 16;
}

static void swap(unsigned *a, unsigned *b) {
  unsigned t = *a;
  *a = *b;
  *b = t;
}

static void sort(unsigned *a, int n) {
  if (n <= SMALL) {
    for (int i = 1; i < n; i++)
      for (int j = i; j > 0 && a[j - 1] > a[j]; j--) swap(&a[j - 1], &a[j]);
    return;
  }
  unsigned pivot = a[n / 2];
  int i = 0, j = n - 1;
  while (i <= j) {
    while (a[i] < pivot) i++;
    while (a[j] > pivot) j--;
    if (i <= j) swap(&a[i++], &a[j--]);
  }
  #pragma omp task
  sort(a, j + 1);
  #pragma omp task
  sort(a + i, n - i);
}

int main(void) {
  unsigned long before = 0, after = 0;
  for (int round = 0; round < ROUNDS; round++) {
    #pragma omp parallel
    #pragma omp single
    {
      #pragma omp taskloop grainsize(4096)
      for (int i = 0; i < N; i++) data[i] = mixed(i + round);
      #pragma omp taskgroup
      sort(data, N);
    }
    for (int i = 0; i < N; i++) {
      before += mixed(i + round);
      after += data[i];
      if (i > 0 && data[i - 1] > data[i]) return 1;
    }
  }
  if (before != after) return 1;
  printf("sorted\n");
}
