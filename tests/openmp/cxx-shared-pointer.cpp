// Threads copy a shared_ptr, each into its own.
// expect: no race
#include <memory>

int main() {
  auto value = std::make_shared<int>(7);
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < 100; i++) {
    std::shared_ptr<int> mine = value;
    wrong += *mine != 7;
  }
  return wrong;
}
