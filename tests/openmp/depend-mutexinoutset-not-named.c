// A task that names the variable of a mutexinoutset nowhere is not excluded.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(mutexinoutset : x)
    x++;
#pragma omp task
    x++;
  }
}
