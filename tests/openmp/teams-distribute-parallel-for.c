// Chunks for teams, and chunks of these for threads.
// expect: no race
int a[1000], b[1000];
int main(void) {
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2)
  for (int i = 0; i < 1000; i++) a[i] = i;
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute parallel for dist_schedule(static, 10) schedule(static, 3)
  for (int i = 0; i < 1000; i++) b[i] = a[999 - i];
  return b[0] != 999;
}
