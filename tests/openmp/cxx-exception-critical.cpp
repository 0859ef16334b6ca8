// An exception leaves a function that is called in a critical section; the section goes on to its end.
// expect: no race
#include <stdexcept>

int failures, successes;

void maybe(int i) {
  if (i % 2) {
    throw std::runtime_error("odd");
  }
  successes++;
}

int main() {
#pragma omp parallel for
  for (int i = 0; i < 50; i++) {
#pragma omp critical
    try {
      maybe(i);
    } catch (const std::runtime_error &) {
      failures++;
    }
  }
  return failures != 25 || successes != 25;
}
