// std::barrier with a completion function that adds up what all threads wrote.
// expect: no race
// options: -std=c++20
#include <barrier>
#include <thread>

int cells[3], sum;

int main() {
  auto add = []() noexcept {
    for (int cell : cells) {
      sum += cell;
    }
  };
  std::barrier meeting(3, add);
  auto worker = [&](int me) {
    for (int phase = 0; phase < 20; phase++) {
      cells[me] = phase;
      meeting.arrive_and_wait();
    }
  };
  std::thread a(worker, 0), b(worker, 1), c(worker, 2);
  a.join();
  b.join();
  c.join();
  return sum != 570;
}
