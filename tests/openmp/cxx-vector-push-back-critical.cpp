// All threads append to one vector, one at a time.
// expect: no race
#include <vector>

int main() {
  std::vector<int> data;
#pragma omp parallel for schedule(dynamic, 10)
  for (int i = 0; i < 300; i++) {
#pragma omp critical
    data.push_back(i);
  }
  return data.size() != 300;
}
