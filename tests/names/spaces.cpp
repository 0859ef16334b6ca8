// Names in namespaces, of members of templates and of static members.
// variable: bank::total
// variable: hidden
// variable: bank::secret.value
// variable: Cache<unsigned int, 4>::hits
// variable: Cache<unsigned int, 4>::slots[2]
// variable: Counter::shared
// variable: calls
#include <thread>

namespace bank {
int total;
namespace {
struct {
  int key, value;
} secret;
} // namespace
} // namespace bank

namespace {
int hidden;
}

template <typename T, int N> struct Cache {
  static long hits;
  static T slots[N];
};
template <typename T, int N> long Cache<T, N>::hits;
template <typename T, int N> T Cache<T, N>::slots[N];

struct Counter {
  static int shared;
  __attribute__((noinline)) void count(int one) {
    static int calls;
    calls += one;
  }
};
int Counter::shared;

void work(int one) {
  bank::total += one;
  hidden += one;
  bank::secret.value += one;
  Cache<unsigned, 4>::hits += one;
  Cache<unsigned, 4>::slots[2] += one;
  Counter::shared += one;
  Counter().count(one);
}

int main() {
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
  return bank::total + hidden + bank::secret.value == 0;
}
