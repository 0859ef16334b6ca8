// A thread arrives without waiting, then writes what the others read after the barrier.
// expect: race on x, lines 14 and 18
// options: -std=c++20
#include <barrier>
#include <thread>
#include <tuple>

int x, copy;

int main() {
  std::barrier meeting(2);
  std::thread a([&] {
    std::ignore = meeting.arrive();
    x = 1;
  });
  std::thread b([&] {
    meeting.arrive_and_wait();
    copy = x;
  });
  a.join();
  b.join();
}
