// push_back changes the vector that another thread asks for its size.
// expect: race on numbers, lines 11 and 14
#include <thread>
#include <vector>

std::vector<int> numbers;

int main() {
  numbers.reserve(8);
  std::thread a([] {
    numbers.push_back(1);
  });
  std::thread b([] {
    volatile bool empty = numbers.size() == 0;
    (void)empty;
  });
  a.join();
  b.join();
}
