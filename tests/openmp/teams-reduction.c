// Two teams add to a sum by a reduction.
// expect: no race
int sum;

int main(void) {
#pragma omp teams distribute parallel for num_teams(2) reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    sum += i;
  }
  return sum != 4950;
}
