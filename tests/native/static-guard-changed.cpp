// The guard protects the initialisation of a static variable, not its use.
// expect: race on counter.value, lines 16 and 16
#include <thread>

struct Counter {
  int value;
  Counter() : value(1) {}
};

Counter &the_counter() {
  static Counter counter;
  return counter;
}

void worker() {
  the_counter().value++;
}

int main() {
  std::thread a(worker), b(worker);
  a.join();
  b.join();
}
