// Threads that share an exception are not ordered by it.
// expect: race on *, lines 19 and 19
#include <exception>
#include <thread>

struct Failure {
  int count = 0;
};

int main() {
  std::exception_ptr failure = std::make_exception_ptr(Failure());
  auto use = [failure] {
    try {
      std::rethrow_exception(failure);
    } catch (Failure &caught) {
      // The exception must not be given up before both have it.
      std::exception_ptr kept = std::current_exception();
      (void)kept;
      caught.count++;
    }
  };
  std::thread one(use), two(use);
  one.join();
  two.join();
}
