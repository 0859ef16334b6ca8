// std::thread: arguments in, results out, in order.
// expect: no race
#include <thread>
#include <vector>

void add(const std::vector<int> &numbers, long &sum) {
  for (int number : numbers) {
    sum += number;
  }
}

int main() {
  std::vector<int> numbers(100, 2);
  long sums[2] = {};
  std::thread a(add, std::cref(numbers), std::ref(sums[0]));
  std::thread b(add, std::cref(numbers), std::ref(sums[1]));
  a.join();
  b.join();
  return sums[0] + sums[1] != 400;
}
