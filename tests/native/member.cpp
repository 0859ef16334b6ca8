// Two methods of one object, one of them without the lock.
// expect: race on account.balance, lines 13 and 16
#include <mutex>
#include <thread>

class Account {
  std::mutex m;
  long balance = 0;

public:
  void deposit(long amount) {
    std::lock_guard<std::mutex> guard(m);
    balance += amount;
  }
  long peek() const {
    return balance;
  }
};

Account account;

int main() {
  std::thread a([] { account.deposit(10); });
  volatile long seen = account.peek();
  (void)seen;
  a.join();
}
