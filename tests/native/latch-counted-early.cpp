// A thread counts down before it has written.
// expect: race on x, lines 13 and 16
// options: -std=c++20
#include <latch>
#include <thread>

int x;

int main() {
  std::latch done(1);
  std::thread a([&] {
    done.count_down();
    x = 1;
  });
  done.wait();
  x = 2;
  a.join();
}
