// Iterations catch their exceptions, and count them without protection.
// expect: race on failures, lines 13 and 13
#include <stdexcept>

int failures;

int main() {
#pragma omp parallel for
  for (int i = 0; i < 50; i++) {
    try {
      throw std::runtime_error("always");
    } catch (const std::runtime_error &) {
      failures++;
    }
  }
}
