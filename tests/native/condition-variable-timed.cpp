// wait_for and wait_until, which mostly time out here.
// expect: no race
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

int x;
bool ready;
std::mutex m;
std::condition_variable changed;

int main() {
  std::thread producer([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::lock_guard<std::mutex> guard(m);
    x++;
    ready = true;
  });
  std::unique_lock<std::mutex> lock(m);
  while (!ready) {
    x++;
    changed.wait_for(lock, std::chrono::milliseconds(1));
    x++;
    changed.wait_until(lock, std::chrono::system_clock::now() + std::chrono::milliseconds(1));
  }
  x++;
  lock.unlock();
  producer.join();
}
