// A queue with std::condition_variable.
// expect: no race
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable filled;
std::deque<int> queue;

int main() {
  std::thread producer([] {
    for (int i = 0; i < 100; i++) {
      {
        std::lock_guard<std::mutex> guard(m);
        queue.push_back(i);
      }
      filled.notify_one();
    }
  });
  int sum = 0;
  for (int i = 0; i < 100; i++) {
    std::unique_lock<std::mutex> lock(m);
    filled.wait(lock, [] { return !queue.empty(); });
    sum += queue.front();
    queue.pop_front();
  }
  producer.join();
  return sum != 4950;
}
