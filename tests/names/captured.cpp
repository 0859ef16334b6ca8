// A local variable that lambdas capture, and a member of an object on the stack.
// variable: hits
// variable: counter.total
#include <thread>

struct Counter {
  int calls = 0;
  long total = 0;
  void add(int amount) {
    total += amount;
  }
};

int main() {
  int hits = 0;
  Counter counter;
  auto work = [&hits, &counter](int amount) {
    hits += amount;
    counter.add(amount);
  };
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
  return hits + counter.total == 0;
}
