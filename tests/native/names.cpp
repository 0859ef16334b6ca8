// A static member of a template in a namespace: the report has its full name.
// expect: race on bank::Counter<int>::total, lines 9 and 9
#include <thread>

namespace bank {
template <typename T> struct Counter {
  static T total;
  static void add(T amount) {
    total += amount;
  }
};
template <typename T> T Counter<T>::total;
} // namespace bank

int main() {
  std::thread a(bank::Counter<int>::add, 1), b(bank::Counter<int>::add, 2);
  a.join();
  b.join();
}
