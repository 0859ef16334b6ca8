// A function's static variable is initialised once, and before everyone who uses it.
// expect: no race
#include <string>
#include <thread>

const std::string &name() {
  static const std::string made(100, 'x');
  return made;
}

int main() {
  size_t lengths[3];
  auto worker = [](size_t *length) { *length = name().size(); };
  std::thread a(worker, &lengths[0]), b(worker, &lengths[1]), c(worker, &lengths[2]);
  a.join();
  b.join();
  c.join();
  return lengths[0] + lengths[1] + lengths[2] != 300;
}
