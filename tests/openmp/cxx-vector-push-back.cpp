// All threads append to one vector.
// expect: race on *, lines 10 and 10
#include <vector>

std::vector<int> data;

int main() {
  data.reserve(100);
#pragma omp parallel
  data.push_back(1);
}
