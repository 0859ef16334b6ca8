// A thread arrives without waiting, then writes what the others read after the barrier.
// expect: race on x, lines 13 and 18
// options: -std=c++20
#include <barrier>
#include <thread>

int x, copy;

int main() {
  std::barrier meeting(2);
  std::thread a([&] {
    auto token = meeting.arrive();
    x = 1;
    meeting.wait(std::move(token));
  });
  std::thread b([&] {
    meeting.arrive_and_wait();
    copy = x;
  });
  a.join();
  b.join();
}
