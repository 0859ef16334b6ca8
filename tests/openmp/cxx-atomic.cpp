// A std::atomic is counted by all threads.
// expect: no race
#include <atomic>

std::atomic<int> count;

int main() {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    count++;
  }
  return count != 100;
}
