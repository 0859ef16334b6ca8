// A taskwait that names a variable as read does not wait for readers: the write after it races with them.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(in : x)
    seen = x;
#pragma omp taskwait depend(in : x)
    x = 1;
  }
}
