// A loop over iterators is divided; each iteration also reads two elements further.
// expect: race on *, lines 9 and 9
#include <vector>

int main() {
  std::vector<int> data(200, 1);
#pragma omp parallel for schedule(dynamic, 20)
  for (std::vector<int>::iterator it = data.begin(); it < data.end() - 2; ++it) {
    *it = it[2];
  }
}
