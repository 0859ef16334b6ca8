// A variable of the region, each thread's own, is updated by tasks of one chunk after another.
// expect: no race
int total;
int main(void) {
#pragma omp parallel
  {
    int mine = 0;
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 32; i++) {
#pragma omp task shared(mine)
      mine += i;
#pragma omp taskwait
    }
#pragma omp atomic
    total += mine;
  }
  return total != 496;
}
