// Elements of a vector<bool> are bits: neighbours share a word.
// expect: race on *, lines 10 and 10
#include <vector>

std::vector<bool> flags(64);

int main() {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 64; i++) {
    flags[i] = true;
  }
}
