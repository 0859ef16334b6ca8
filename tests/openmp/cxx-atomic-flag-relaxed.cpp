// A std::atomic flag that is relaxed hands nothing over.
// expect: race on data, lines 13 and 19
#include <atomic>
#include <omp.h>
#include <sched.h>

std::atomic<bool> ready;
int data, seen;

int main() {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    data = 1;
    ready.store(true, std::memory_order_relaxed);
  } else if (omp_get_thread_num() == 1) {
    while (!ready.load(std::memory_order_relaxed)) {
      sched_yield();
    }
    seen = data;
  }
}
