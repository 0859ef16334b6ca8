// One thread uses std::atomic_ref, the other the variable itself.
// expect: race on x, lines 11 and 14
// options: -std=c++20
#include <atomic>
#include <thread>

int x;

int main() {
  std::thread a([] {
    std::atomic_ref<int>(x).store(1);
  });
  std::thread b([] {
    x = 2;
  });
  a.join();
  b.join();
}
