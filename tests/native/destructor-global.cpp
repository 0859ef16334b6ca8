// A global's destructor runs after main; the detached thread's write is not ordered before it.
// expect: race on x, lines 17 and 11
#include <atomic>
#include <thread>

int x;
std::atomic<bool> done;

struct Last {
  ~Last() {
    x = 2;
  }
} last;

int main() {
  std::thread([] {
    x = 1;
    done.store(true, std::memory_order_relaxed);
  }).detach();
  while (!done.load(std::memory_order_relaxed)) {
    std::this_thread::yield();
  }
}
