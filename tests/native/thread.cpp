// Two lambdas in two std::threads write a captured variable.
// expect: race on *, lines 8 and 11
#include <thread>

int main() {
  int x = 0;
  std::thread a([&] {
    x = 1;
  });
  std::thread b([&] {
    x = 2;
  });
  a.join();
  b.join();
}
