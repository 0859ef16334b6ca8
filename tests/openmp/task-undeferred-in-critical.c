// An undeferred task runs while its creator holds the lock.
// expect: no race
int count;

int main(void) {
#pragma omp parallel
  {
#pragma omp critical
    {
#pragma omp task if (0)
      count++;
    }
  }
  return count < 1;
}
