// tasks: a Fourier transform, halves as tasks, and back again.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 1 << 15, LEAF = 128 };
static double complex data[N], room[N], start[N];

static void transform(double complex *a, double complex *b, int n, double sign) {
  if (n == 1) return;
  int h = n / 2;
  for (int i = 0; i < h; i++) {
    b[i] = a[2 * i];
    b[i + h] = a[2 * i + 1];
  }
  #pragma omp task if (n > LEAF)
  transform(b, a, h, sign);
  #pragma omp task if (n > LEAF)
  transform(b + h, a + h, h, sign);
  #pragma omp taskwait
  for (int i = 0; i < h; i++) {
    double angle = sign * 2 * acos(-1) * i / n;
    double complex turned = b[i + h] * (cos(angle) + I * sin(angle));
    a[i] = b[i] + turned;
    a[i + h] = b[i] - turned;
  }
}

int main(void) {
  for (int i = 0; i < N; i++) start[i] = data[i] = i % 17 + I * (i % 5);
  #pragma omp parallel
  #pragma omp single
  {
    transform(data, room, N, -1);
    transform(data, room, N, 1);
  }
  for (int i = 0; i < N; i++)
    if (cabs(data[i] / N - start[i]) > 1e-6) return 1;
  printf("there and back\n");
}
