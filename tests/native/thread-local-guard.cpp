// thread_local objects with constructors: one for each thread.
// expect: no race
#include <string>
#include <thread>

thread_local std::string mine(40, 'x');

int main() {
  auto worker = [] {
    for (int i = 0; i < 20; i++) {
      mine += 'y';
    }
  };
  std::thread a(worker), b(worker);
  worker();
  a.join();
  b.join();
  return mine.size() != 60;
}
