// A std::thread reads what a region writes.
// expect: race on x, lines 10 and 14
#include <omp.h>
#include <thread>

int x, seen;

int main() {
  std::thread reader([] {
    seen = x;
  });
#pragma omp parallel
  if (omp_get_thread_num() == 1) {
    x = 1;
  }
  reader.join();
}
