// An exception has left twenty calls at once; the race afterwards is in main's own frame.
// expect: race on x, lines 17 and 23
#include <stdexcept>
#include <thread>

int x;

__attribute__((noinline)) void fail(int depth) {
  if (depth == 0) {
    throw std::runtime_error("failure");
  }
  fail(depth - 1);
}

int main() {
  std::thread a([] {
    x = 1;
  });
  try {
    fail(20);
  } catch (const std::runtime_error &) {
  }
  x = 2;
  a.join();
}
