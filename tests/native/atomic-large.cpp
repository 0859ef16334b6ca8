// Atomics of sizes that no processor knows order threads by what they store, load and exchange, not by a lock behind them.
// expect: no race
// options: -latomic
#include <atomic>
#include <sched.h>
#include <thread>

struct Twelve {
  int a, b, c;
};

struct Big {
  long number;
  char text[92];
};

std::atomic<Twelve> twelve{Twelve{0, 0, 0}};
std::atomic<Big> big{Big{0, ""}};
std::atomic<Twelve> counter{Twelve{0, 0, 0}};
int by_store, by_exchange, by_compare, counted;

static void count() {
  for (int i = 0; i < 100; i++) {
    Twelve old = counter.load(std::memory_order_relaxed);
    while (!counter.compare_exchange_weak(old, Twelve{old.a + 1, old.b + 2, old.c + 3})) {
    }
    if (old.a == 199) counted = 1;
  }
}

int main() {
  std::thread writer([] {
    by_store = 1;
    twelve.store(Twelve{1, 2, 3}, std::memory_order_release);
    while (big.load(std::memory_order_acquire).number != 1) sched_yield();
    by_exchange += 1;
    Big old = big.load();
    by_compare = 1;
    big.compare_exchange_strong(old, Big{2, "two"}, std::memory_order_acq_rel);
  });
  std::thread reader([] {
    while (twelve.load(std::memory_order_acquire).a != 1) sched_yield();
    by_exchange = by_store;
    big.exchange(Big{1, "one"}, std::memory_order_acq_rel);
    while (big.load(std::memory_order_acquire).number != 2) sched_yield();
    by_compare += by_exchange;
  });
  writer.join();
  reader.join();
  std::thread one(count), other(count);
  one.join();
  other.join();
  Twelve end = counter.load();
  bool right = by_compare == 3 && counted == 1 && end.a == 200 && end.b == 400 && end.c == 600;
  return right ? 0 : 1;
}
