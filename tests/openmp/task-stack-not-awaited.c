// A function's own result is read before its task has written it.
// expect: race on *, lines 9 and 10
// threads: 1 2 4 16
int early;

void work(void) {
  int result = 0;
#pragma omp task shared(result)
  result = 1;
  early = result;
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel
#pragma omp single
  work();
}
