// An atomic member that one side writes without its operations: a name ends where the program's own types end.
// variable: cache.hits
// variable: table[2].used
#include <atomic>
#include <cstring>
#include <thread>

struct Cache {
  int size = 0;
  std::atomic<int> hits{0};
};
struct Entry {
  long key = 0;
  std::atomic<long> used{0};
};

Cache cache;
Entry table[4];

int main() {
  std::thread a([] {
    cache.hits.fetch_add(1, std::memory_order_relaxed);
    table[2].used.fetch_add(1, std::memory_order_relaxed);
  });
  *reinterpret_cast<volatile int *>(&cache.hits) = 7;
  *reinterpret_cast<volatile long *>(&table[2].used) = 7;
  a.join();
}
