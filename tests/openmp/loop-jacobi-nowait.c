// The sweeps have no barrier between them: a thread may be a sweep ahead of its neighbour.
// expect: race on data, lines 12 and 12
enum { N = 200 };
double data[2][N];

int main(void) {
#pragma omp parallel
  for (int sweep = 0; sweep < 6; sweep++) {
    double *from = data[sweep % 2], *to = data[1 - sweep % 2];
#pragma omp for nowait
    for (int i = 1; i < N - 1; i++) {
      to[i] = from[i - 1] + from[i + 1];
    }
  }
}
