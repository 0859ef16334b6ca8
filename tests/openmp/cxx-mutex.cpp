// A std::mutex excludes threads of a region.
// expect: no race
#include <mutex>

std::mutex mutex;
int x;

int main() {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    std::lock_guard<std::mutex> guard(mutex);
    x++;
  }
  return x != 100;
}
