// The guard's scope ends before the write.
// expect: race on x, lines 12 and 16
#include <mutex>
#include <thread>

int x;
std::mutex m, n;

int main() {
  std::thread a([] {
    { std::lock_guard<std::mutex> guard(m); }
    x = 1;
  });
  std::thread b([] {
    { std::lock_guard<std::mutex> guard(n); }
    x = 2;
  });
  a.join();
  b.join();
}
