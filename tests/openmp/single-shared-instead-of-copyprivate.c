// One thread reads a value into a shared variable, which each thread clears after use.
// expect: race on value, lines 10 and 10
int input = 5, value;

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    value = input++;
    value = 0;
  }
}
