// The reference count is atomic, the std::shared_ptr itself is not.
// expect: race on current, lines 10 and 13
#include <memory>
#include <thread>

std::shared_ptr<int> current;

int main() {
  std::thread a([] {
    current.reset();
  });
  std::thread b([] {
    volatile bool seen = current.get() != nullptr;
    (void)seen;
  });
  a.join();
  b.join();
}
