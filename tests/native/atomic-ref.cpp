// std::atomic_ref makes a plain variable atomic, as long as everyone uses it.
// expect: no race
// options: -std=c++20
#include <atomic>
#include <thread>

int x;

int main() {
  auto worker = [] {
    for (int i = 0; i < 100; i++) {
      std::atomic_ref<int>(x).fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::thread a(worker), b(worker);
  a.join();
  b.join();
  return x != 200;
}
