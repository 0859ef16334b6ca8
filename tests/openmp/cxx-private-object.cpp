// Each thread has an object of its own, with constructor and destructor.
// expect: no race
#include <vector>

struct Buffer {
  std::vector<int> cells = std::vector<int>(10);
  void note(int i) { cells[i % 10]++; }
};

int main() {
  Buffer buffer;
  int wrong = 0;
#pragma omp parallel private(buffer) reduction(+ : wrong)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      buffer.note(i);
    }
    wrong += buffer.cells.size() != 10;
  }
  return wrong;
}
