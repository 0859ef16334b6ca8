// Each thread counts its chunks in a variable of its own, over two regions.
// expect: no race
static int count;
#pragma omp threadprivate(count)
int main(void) {
  int all = 0;
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) count++;
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) count++;
#pragma omp parallel reduction(+ : all)
  all += count;
  return all != 128;
}
