// std::shared_mutex: readers share, the writer is alone.
// expect: no race
#include <mutex>
#include <shared_mutex>
#include <thread>

int x;
std::shared_mutex m;

int main() {
  auto reader = [] {
    int seen = 0;
    while (seen < 50) {
      std::shared_lock lock(m);
      seen = x;
    }
  };
  std::thread a(reader), b(reader);
  for (int i = 0; i < 50; i++) {
    std::unique_lock lock(m);
    x++;
  }
  a.join();
  b.join();
}
