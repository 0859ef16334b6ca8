// Functions called one after the other have their variables at the same place; each waits for its tasks.
// expect: no race
// threads: 1 2 4 16
int total;

void first(void) {
  int a = 1, b = 2;
#pragma omp task shared(a)
  a++;
#pragma omp task shared(b)
  b++;
#pragma omp taskwait
  total += a + b;
}

void second(void) {
  int c = 3, d = 4;
#pragma omp task shared(d)
  d++;
#pragma omp task shared(c)
  c++;
#pragma omp taskwait
  total += c + d;
}

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
    first();
    second();
  }
  return total != 140;
}
