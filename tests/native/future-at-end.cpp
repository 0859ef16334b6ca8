// A future is ready when the thread has ended, thread-local variables included.
// expect: no race
#include <future>
#include <thread>

int data;

struct Local {
  ~Local() { data++; }
};
thread_local Local local;

int main() {
  std::promise<int> promise;
  auto future = promise.get_future();
  std::thread thread([&] {
    (void)&local;
    promise.set_value_at_thread_exit(1);
    data = 1;
  });
  future.get();
  data++;
  thread.join();
}
