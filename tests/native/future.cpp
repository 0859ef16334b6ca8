// std::promise, std::future, std::async, std::packaged_task.
// expect: no race
#include <future>
#include <thread>

int x, y;

int main() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread a([&] {
    x = 1;
    promise.set_value(41);
  });
  int answer = future.get();
  answer += x;
  auto later = std::async(std::launch::async, [] {
    y = 1;
    return 2;
  });
  answer += later.get() + y;
  std::packaged_task<int()> task([] { return ++y; });
  std::future<int> result = task.get_future();
  std::thread b(std::move(task));
  answer += result.get();
  a.join();
  b.join();
  return answer != 47;
}
