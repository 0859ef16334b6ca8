// Each chunk creates a task and goes on without waiting.
// expect: race on last, lines 10 and 11
// options: -O0
int last[64];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
#pragma omp task
    last[i] = i;
    last[i] = 1;
  }
}
