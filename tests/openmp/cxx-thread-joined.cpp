// A std::thread with a region of its own is joined before its result is read by another region.
// expect: no race
#include <thread>

int data[100], sum;

int main() {
  std::thread filler([] {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) {
      data[i] = 1;
    }
  });
  filler.join();
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    sum += data[i];
  }
  return sum != 100;
}
