// Tasks of tasks take part in a reduction.
// expect: no race
// threads: 1 2 4 16
int sum;

void visit(int depth) {
#pragma omp task in_reduction(+ : sum)
  {
    sum++;
    if (depth > 0) {
      visit(depth - 1);
      visit(depth - 1);
    }
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    visit(4);
  }
  return sum != 31;
}
