// Iterations throw exceptions, and catch them.
// expect: no race
#include <stdexcept>

int caught, data[100];

int main() {
#pragma omp parallel for reduction(+ : caught)
  for (int i = 0; i < 100; i++) {
    try {
      data[i] = i;
      if (i % 10 == 3) {
        throw std::runtime_error("three");
      }
    } catch (const std::runtime_error &) {
      caught++;
    }
  }
  return caught != 10;
}
