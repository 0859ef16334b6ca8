// Each iteration needs the next one, of another thread or team.
// expect: race on a, lines 8 and 8
int a[1001];
int main(void) {
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute parallel for
  for (int i = 0; i < 1000; i++)
    a[i] = a[i + 1];
  return 0;
}
