// A relaxed store of an object that no processor stores at once orders nothing, though some lock is behind it.
// expect: race on data, lines 16 and 21
// options: -latomic
#include <atomic>
#include <sched.h>
#include <thread>

struct Three {
  long a, b, c;
};
std::atomic<Three> flag{Three{0, 0, 0}};
int data;

int main() {
  std::thread writer([] {
    data = 1;
    flag.store(Three{1, 2, 3}, std::memory_order_relaxed);
  });
  std::thread reader([] {
    while (flag.load(std::memory_order_relaxed).a != 1) sched_yield();
    data = 2;
  });
  writer.join();
  reader.join();
}
