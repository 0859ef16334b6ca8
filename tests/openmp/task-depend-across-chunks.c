// Tasks of different chunks are no siblings for each other unless one thread ran both: nothing orders them.
// expect: race on sum, lines 9 and 9
// options: -O0
int sum;
int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 32; i++) {
#pragma omp task depend(inout : sum)
    sum += i;
  }
}
