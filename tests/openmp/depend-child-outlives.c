// A task's end does not wait for its children: who depends on the task is not ordered after its child.
// expect: race on x, lines 13 and 16
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    {
#pragma omp task
      x = 1;
    }
#pragma omp task depend(in : x)
    seen = x;
  }
}
