// A plain write to a part of an object that another thread stores atomically.
// expect: race on record, lines 20 and 24
// options: -latomic
#include <atomic>
#include <new>
#include <sched.h>
#include <thread>

struct Three {
  int a, b, c;
};
alignas(std::atomic<Three>) unsigned char record[sizeof(std::atomic<Three>)];
std::atomic<int> turn;

int main() {
  auto *whole = new (record) std::atomic<Three>(Three{0, 0, 0});
  turn = 0;
  std::thread writer([&] {
    while (turn.load(std::memory_order_relaxed) == 0) sched_yield();
    whole->store(Three{1, 2, 3});
  });
  std::thread part([&] {
    turn.store(1, std::memory_order_relaxed);
    reinterpret_cast<Three *>(record)->c = 4;
  });
  writer.join();
  part.join();
}
