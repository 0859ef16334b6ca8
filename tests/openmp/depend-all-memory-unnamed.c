// A sibling without any dependence is not ordered by one on all memory.
// expect: race on a, lines 11 and 13
// threads: 1 2 4 16
int a, c;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    a = 1;
#pragma omp task depend(out : omp_all_memory)
    c = a;
  }
}
