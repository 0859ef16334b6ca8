// Threads share an exception; the last one to give it up destroys it.
// expect: no race
#include <exception>
#include <memory>
#include <thread>
#include <vector>

struct Failure {
  std::shared_ptr<int> reason = std::make_shared<int>(1);
};

int main() {
  std::exception_ptr failure;
  try {
    throw Failure();
  } catch (...) {
    failure = std::current_exception();
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([failure] {
      try {
        std::rethrow_exception(failure);
      } catch (const Failure &caught) {
        volatile int reason = *caught.reason;
        (void)reason;
      }
    });
  failure = nullptr;
  for (auto &thread : threads)
    thread.join();
}
