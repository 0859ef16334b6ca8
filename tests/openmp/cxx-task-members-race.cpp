// A member function creates tasks that write to the same member.
// expect: race on pair, lines 8 and 10
// threads: 1 2 4 16
struct Pair {
  int left = 0, right = 0;
  void fill() {
#pragma omp task
    left = 1;
#pragma omp task
    left = 2;
#pragma omp taskwait
    right = left;
  }
} pair;

int main() {
#pragma omp parallel
#pragma omp single
  pair.fill();
}
