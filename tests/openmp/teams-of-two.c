// Each team of a league does the same; how many there are is up to a variable of the environment.
// expect: race on x, lines 10 and 10
// threads: 2 4
// environment: OMP_NUM_TEAMS=2
int x;

int main(void) {
#pragma omp teams
  {
    x++;
  }
  return x < 0;
}
