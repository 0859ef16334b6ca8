// Many chunks read what one chunk writes.
// expect: race on limit, lines 9 and 10
// options: -O0
int limit = 5, count[64];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    count[i] = limit;
    if (i == 60) limit = 7;
  }
}
