// Two tasks name different members of a structure and write the same one.
// expect: race on pair, lines 13 and 15
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
    pair.right = ++pair.left;
  }
}
