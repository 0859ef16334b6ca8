// std::call_once orders the initialisation before everyone who called it.
// expect: no race
#include <mutex>
#include <thread>

int x;
std::once_flag once;

int main() {
  int copies[3];
  auto worker = [](int *copy) {
    std::call_once(once, [] { x = 1; });
    *copy = x;
  };
  std::thread a(worker, &copies[0]), b(worker, &copies[1]), c(worker, &copies[2]);
  a.join();
  b.join();
  c.join();
  return copies[0] + copies[1] + copies[2] != 3;
}
