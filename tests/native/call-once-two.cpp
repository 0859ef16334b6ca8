// Each thread has a once_flag of its own.
// expect: race on x, lines 12 and 12
#include <mutex>
#include <thread>

int x;

int main() {
  auto worker = [] {
    std::once_flag once;
    std::call_once(once, [] {
      x = 1;
    });
  };
  std::thread a(worker), b(worker);
  a.join();
  b.join();
}
