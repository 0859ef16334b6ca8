// std::latch: all that counted down happens before whoever waited.
// expect: no race
// options: -std=c++20
#include <latch>
#include <thread>

int main() {
  int parts[2] = {};
  std::latch done(2);
  std::thread a([&] {
    parts[0] = 1;
    done.count_down();
  });
  std::thread b([&] {
    parts[1] = 1;
    done.count_down();
  });
  done.wait();
  int sum = parts[0] + parts[1];
  a.join();
  b.join();
  return sum != 2;
}
