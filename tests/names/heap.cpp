// What lies on the heap, by the type that the allocating line or the library's allocator names.
// variable: Node.value
// variable: Node[2].slots[1]
// variable: Hidden.b
// variable: Box<long>.second
// variable: int[3]
// variable: Account[2].limit
// variable: Account.limit
// variable: Account[4].limit
// variable: pair.second.limit
// variable: double[5]
// variable: pointer[1]
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace app {
struct Node {
  long id;
  int value;
  int slots[4];
  ~Node() {}
};
} // namespace app
namespace {
struct Hidden {
  int a, b;
};
} // namespace
template <class T> struct Box {
  T first, second;
};
struct Account {
  int balance, limit;
};

int main() {
  auto node = new app::Node{1, 2, {}};
  auto nodes = new app::Node[3];
  auto hidden = new Hidden{1, 2};
  auto box = new Box<long>();
  std::vector<int> numbers(10);
  std::vector<Account> accounts(4);
  auto shared = std::make_shared<Account>();
  auto unique = std::make_unique<Account[]>(5);
  std::map<int, Account> by_number;
  by_number[3] = {1, 2};
  double *sums = new double[8];
  Account **several = new Account *[3];
  auto work = [&] {
    node->value++;
    nodes[2].slots[1]++;
    hidden->b++;
    box->second++;
    numbers[3]++;
    accounts[2].limit++;
    shared->limit++;
    unique[4].limit++;
    by_number.find(3)->second.limit++;
    sums[5] += 1;
    several[1] = unique.get();
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  return numbers[3] + (several[1] == nullptr) == 0;
}
