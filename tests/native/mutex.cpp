// std::lock_guard, std::unique_lock, std::scoped_lock on two mutexes.
// expect: no race
#include <mutex>
#include <thread>

int x, y;
std::mutex m, n;

void worker() {
  for (int i = 0; i < 100; i++) {
    {
      std::lock_guard<std::mutex> guard(m);
      x++;
    }
    {
      std::unique_lock<std::mutex> lock(n);
      y++;
    }
    std::scoped_lock both(n, m);
    x++;
    y++;
  }
}

int main() {
  std::thread a(worker), b(worker);
  a.join();
  b.join();
  return x != 400 || y != 400;
}
