// Two tasks name different members of a structure, and touch only those.
// expect: no race
// threads: 1 2 4 16
struct {
  int left, right;
} pair;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(inout : pair.left)
    pair.left = 1;
#pragma omp task depend(inout : pair.right)
    pair.right = 2;
#pragma omp task depend(in : pair.left, pair.right)
    pair.left += pair.right;
  }
  return pair.left != 3;
}
