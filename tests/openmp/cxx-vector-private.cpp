// Each thread appends to its own vector, and appends that to the common one in a critical section.
// expect: no race
#include <vector>

int main() {
  std::vector<int> all;
#pragma omp parallel
  {
    std::vector<int> mine;
#pragma omp for schedule(dynamic, 5) nowait
    for (int i = 0; i < 300; i++) {
      mine.push_back(i);
    }
#pragma omp critical
    all.insert(all.end(), mine.begin(), mine.end());
  }
  return all.size() != 300;
}
