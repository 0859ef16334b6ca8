// Elements of a vector<char> are bytes of their own.
// expect: no race
#include <vector>

int main() {
  std::vector<char> flags(64);
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 64; i++) {
    flags[i] = true;
  }
  return flags[63] != 1;
}
