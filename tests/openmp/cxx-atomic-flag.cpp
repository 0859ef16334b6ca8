// A std::atomic flag hands data over.
// expect: no race
#include <atomic>
#include <omp.h>
#include <sched.h>

std::atomic<bool> ready;
int data, seen;

int main() {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
    data = 1;
    ready = true;
  } else if (omp_get_thread_num() == 1) {
    while (!ready) {
      sched_yield();
    }
    seen = data;
  }
  return seen != 1;
}
