// The first threads of two teams write the same variable.
// expect: race on x, lines 7 and 7
int x;

int main(void) {
#pragma omp teams num_teams(2)
  x++;
}
