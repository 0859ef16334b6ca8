// Each chunk has a vector of its own, filled by tasks that it waits for.
// expect: no race
#include <vector>

int sums[32];

int main() {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 32; i++) {
    std::vector<int> parts(8);
    for (int k = 0; k < 8; k++)
#pragma omp task shared(parts)
      parts[k] = i * k;
#pragma omp taskwait
    for (int part : parts) sums[i] += part;
  }
  return sums[31] != 868;
}
