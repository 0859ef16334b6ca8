// Tasks count on which thread they ran, each in the thread's own counter.
// expect: no race
// threads: 1 2 4 16
int mine, total;
#pragma omp threadprivate(mine)

int main(void) {
#pragma omp parallel
  {
    mine = 0;
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task
      mine++;
    }
#pragma omp atomic
    total += mine;
  }
  return total != 50;
}
