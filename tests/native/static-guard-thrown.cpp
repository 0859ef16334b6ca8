// An initialisation that throws is tried again by the next caller.
// expect: no race
#include <atomic>
#include <stdexcept>
#include <thread>

std::atomic<int> attempts;
int x;

int make() {
  x++;
  if (attempts++ == 0) {
    throw std::runtime_error("not yet");
  }
  return x;
}

int get() {
  for (;;) {
    try {
      static int made = make();
      return made;
    } catch (const std::runtime_error &) {
    }
  }
}

int main() {
  int copies[2];
  std::thread a([&] { copies[0] = get(); }), b([&] { copies[1] = get(); });
  a.join();
  b.join();
  return copies[0] != 2 || copies[1] != 2;
}
