// A std::mutex does not exclude a critical section.
// expect: race on x, lines 13 and 16
#include <mutex>
#include <omp.h>

std::mutex mutex;
int x;

int main() {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    std::lock_guard<std::mutex> guard(mutex);
    x++;
  } else if (omp_get_thread_num() == 1) {
#pragma omp critical
    x++;
  }
}
