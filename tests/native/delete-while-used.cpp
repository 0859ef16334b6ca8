// delete of an object whose use in another thread is not ordered before.
// expect: race on int, lines 11 and 17
#include <atomic>
#include <thread>

std::atomic<bool> was_used;

int main() {
  int *object = new int(1);
  std::thread a([=] {
    *object = 2;
    was_used.store(true, std::memory_order_relaxed);
  });
  while (!was_used.load(std::memory_order_relaxed)) {
    std::this_thread::yield();
  }
  delete object;
  a.join();
}
