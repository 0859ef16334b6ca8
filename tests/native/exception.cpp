// An exception thrown in a thread is caught there, carried over by std::exception_ptr and thrown again.
// expect: no race
#include <exception>
#include <stdexcept>
#include <thread>

struct Failure : std::runtime_error {
  int code;
  Failure(int code) : std::runtime_error("failure"), code(code) {}
};

void fail(int depth) {
  if (depth == 0) {
    throw Failure(7);
  }
  fail(depth - 1);
}

int main() {
  std::exception_ptr carried;
  std::thread a([&] {
    try {
      fail(20);
    } catch (...) {
      carried = std::current_exception();
    }
  });
  a.join();
  try {
    std::rethrow_exception(carried);
  } catch (const Failure &failure) {
    return failure.code != 7;
  }
  return 1;
}
