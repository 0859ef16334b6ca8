// tasks: mergesort.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 20 };
static int data[N], room[N];

static void sort(int *a, int *b, int n) {
  if (n < 256) {
    for (int i = 1; i < n; i++)
      for (int j = i; j > 0 && a[j - 1] > a[j]; j--) {
        int t = a[j];
        a[j] = a[j - 1];
        a[j - 1] = t;
      }
    return;
  }
  int h = n / 2;
  #pragma omp task
  sort(a, b, h);
  #pragma omp task
  sort(a + h, b + h, n - h);
  #pragma omp taskwait
  int i = 0, j = h, k = 0;
  while (i < h && j < n) b[k++] = a[i] <= a[j] ? a[i++] : a[j++];
  while (i < h) b[k++] = a[i++];
  while (j < n) b[k++] = a[j++];
  memcpy(a, b, n * sizeof *a);
}

int main(void) {
  unsigned seed = 1;
  for (int i = 0; i < N; i++) data[i] = (seed = seed * 1103515245 + 12345) >> 8;
  #pragma omp parallel
  #pragma omp single
  sort(data, room, N);
  for (int i = 1; i < N; i++)
    if (data[i - 1] > data[i]) return 1;
  printf("sorted\n");
}
