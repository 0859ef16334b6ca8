// What std::call_once calls ends in an exception at first: who tries again comes after that.
// expect: no race
#include <mutex>
#include <stdexcept>
#include <thread>

std::once_flag flag;
int attempts;
long x;

void work() {
  try {
    std::call_once(flag, [] {
      if (attempts++ < 3) {
        throw std::runtime_error("not yet");
      }
      x = 5;
    });
    volatile long seen = x;
    (void)seen;
  } catch (std::runtime_error &) {
  }
}

int main() {
  for (int i = 0; i < 5; i++) {
    std::thread a(work), b(work);
    a.join();
    b.join();
  }
  return 0;
}
