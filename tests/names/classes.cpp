// Members of base classes, and members whose types are the library's.
// variable: account.balance
// variable: account.id
// variable: account.recent
// variable: account.owner
// variable: account.months[1]
// variable: account.range.second
// variable: object.extra
#include <array>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Named {
  int kind = 0;
  int id = 0;
};

struct Account : Named {
  std::mutex lock;
  long balance = 0;
  std::vector<int> recent;
  std::string owner;
  std::array<int, 3> months{};
  std::pair<int, int> range;
};

struct Shape {
  virtual ~Shape() {}
  int sides = 0;
};
struct Square : Shape {
  int extra = 0;
};

Account account;
Square object;

void work(int one) {
  account.balance += one;
  account.id += one;
  int *volatile pointer = reinterpret_cast<int *>(&account.recent);
  *pointer = one;
  pointer = reinterpret_cast<int *>(&account.owner);
  *pointer = one;
  account.months[1] += one;
  account.range.second += one;
  object.extra += one;
}

int main() {
  void *kept[3];
  static_assert(sizeof(kept) <= sizeof(account.recent) && sizeof(kept) <= sizeof(account.owner));
  __builtin_memcpy(kept, static_cast<void *>(&account.recent), 16);
  void *first = kept[0], *second = kept[1];
  __builtin_memcpy(kept, static_cast<void *>(&account.owner), 16);
  std::thread a(work, 0), b(work, 0);
  a.join();
  b.join();
  // What the threads have written over is put back, for the destructors.
  void *volatile *back = reinterpret_cast<void *volatile *>(&account.recent);
  back[0] = first, back[1] = second;
  back = reinterpret_cast<void *volatile *>(&account.owner);
  back[0] = kept[0], back[1] = kept[1];
}
