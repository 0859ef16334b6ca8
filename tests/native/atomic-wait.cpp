// std::atomic::wait and notify_one.
// expect: no race
// options: -std=c++20
#include <atomic>
#include <thread>

int x;
std::atomic<int> ready;

int main() {
  std::thread a([] {
    x = 42;
    ready.store(1, std::memory_order_release);
    ready.notify_one();
  });
  ready.wait(0, std::memory_order_acquire);
  x++;
  a.join();
  return x != 43;
}
