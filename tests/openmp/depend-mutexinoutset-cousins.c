// Two tasks exclude each other only if one task has created both.
// expect: race on count, lines 11 and 16
// threads: 1 2 4 16
int count, key;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(mutexinoutset : key)
    count++;
#pragma omp task
    {
#pragma omp task depend(mutexinoutset : key)
      // Its creator is another.
      count++;
    }
  }
}
