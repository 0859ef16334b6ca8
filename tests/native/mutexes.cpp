// std::recursive_mutex, std::timed_mutex, std::shared_timed_mutex.
// expect: no race
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

int x;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::shared_timed_mutex shared;

void worker() {
  {
    std::lock_guard<std::recursive_mutex> outer(recursive);
    std::lock_guard<std::recursive_mutex> inner(recursive);
    x++;
  }
}

void timed_worker(int &y) {
  if (timed.try_lock_for(std::chrono::seconds(60))) {
    y++;
    timed.unlock();
  }
}

void shared_worker(int &z) {
  if (shared.try_lock_for(std::chrono::seconds(60))) {
    z++;
    shared.unlock();
  }
  if (shared.try_lock_shared_for(std::chrono::seconds(60))) {
    volatile int seen = z;
    (void)seen;
    shared.unlock_shared();
  }
}

int main() {
  int y = 0, z = 0;
  auto all = [&] {
    worker();
    timed_worker(y);
    shared_worker(z);
  };
  std::thread a(all), b(all);
  a.join();
  b.join();
  return x != 2 || y != 2 || z != 2;
}
