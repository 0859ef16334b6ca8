// The promise is kept before the work is done.
// expect: race on x, lines 13 and 16
#include <future>
#include <thread>

int x;

int main() {
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  std::thread a([&] {
    promise.set_value();
    x = 1;
  });
  future.wait();
  x = 2;
  a.join();
}
