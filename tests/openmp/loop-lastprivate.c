// The variable has the value of the last iteration after the loop.
// expect: no race
int last;

int main(void) {
#pragma omp parallel for lastprivate(last)
  for (int i = 0; i < 100; i++) {
    last = i;
  }
  return last != 99;
}
