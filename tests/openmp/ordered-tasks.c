// What a task does that the ordered block created is not ordered with the next block.
// expect: race on x, lines 11 and 11
// options: -O0
int x;

int main(void) {
#pragma omp parallel for ordered schedule(dynamic, 1)
  for (int i = 0; i < 32; i++)
#pragma omp ordered
#pragma omp task
    x = i;
}
