// A region that is not parallel: its condition does not hold.
// expect: no race
int x, large;

int main(void) {
#pragma omp parallel if (large > 10)
  x++;
  return x != 1;
}
