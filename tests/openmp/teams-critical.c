// A critical section holds for all teams.
// expect: no race
int n;
int main(void) {
#pragma omp teams num_teams(2) thread_limit(2)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
      n++;
    }
  }
  return n < 1;
}
