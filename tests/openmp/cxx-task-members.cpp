// A member function creates tasks that write to different members.
// expect: no race
// threads: 1 2 4 16
struct Pair {
  int left = 0, right = 0;
  void fill() {
#pragma omp task
    left = 1;
#pragma omp task
    right = 2;
#pragma omp taskwait
    left += right;
  }
};

int main() {
  Pair pair;
#pragma omp parallel
#pragma omp single
  pair.fill();
  return pair.left != 3;
}
