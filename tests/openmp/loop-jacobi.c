// Each sweep reads one array and writes the other; the loops' barriers lie between sweeps.
// expect: no race
enum { N = 200 };
double data[2][N];

int main(void) {
  data[0][0] = data[1][0] = 1;
#pragma omp parallel
  for (int sweep = 0; sweep < 6; sweep++) {
    double *from = data[sweep % 2], *to = data[1 - sweep % 2];
#pragma omp for
    for (int i = 1; i < N - 1; i++) {
      to[i] = (from[i - 1] + from[i + 1]) / 2;
    }
  }
  return data[0][1] == 0;
}
