// Many chunks read; the task of one of them writes.
// expect: race on limit, lines 10 and 13
// options: -O0
int limit = 5, count[64];

int main(void) {
#pragma omp parallel
#pragma omp for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    count[i] = limit;
    if (i == 60)
#pragma omp task
      limit = 7;
  }
}
