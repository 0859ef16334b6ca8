// A thread_local variable.
// expect: no race
thread_local int count;
int total;

int main() {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      count++;
    }
#pragma omp atomic
    total += count;
  }
  return total != 100;
}
