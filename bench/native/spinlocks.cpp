// users: a spinlock and a ticket lock, made of atomics, around a small record.
#include <atomic>
#include <sched.h>
#include <thread>
#include <vector>

struct Spinlock {
  std::atomic<bool> taken{false};
  void lock() {
    while (taken.exchange(true, std::memory_order_acquire)) {
      for (int spins = 0; taken.load(std::memory_order_relaxed); spins++) {
        if (spins % 64 == 63) {
          sched_yield();
        }
      }
    }
  }
  void unlock() { taken.store(false, std::memory_order_release); }
};

struct TicketLock {
  std::atomic<unsigned> next{0}, serving{0};
  void lock() {
    unsigned ticket = next.fetch_add(1, std::memory_order_relaxed);
    for (int spins = 0; serving.load(std::memory_order_acquire) != ticket; spins++) {
      if (spins % 64 == 63) {
        sched_yield();
      }
    }
  }
  void unlock() { serving.store(serving.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
};

struct Record {
  long count, sum, least, greatest;
  int last[4];
};

enum { THREADS = 2, ROUNDS = 4000000 };
static Spinlock spinlock;
static TicketLock ticket_lock;
static Record one, other;

template <class Lock> static void note(Lock &lock, Record &record, long value) {
  lock.lock();
  record.count++;
  record.sum += value;
  record.least = value < record.least ? value : record.least;
  record.greatest = value > record.greatest ? value : record.greatest;
  record.last[record.count % 4] = value;
  lock.unlock();
}

static void work(long seed) {
  for (long i = 0; i < ROUNDS; i++) {
    seed = (seed * 6364136223846793005L + 1442695040888963407L);
    note(spinlock, one, seed >> 40);
    if (i % 4 == 0) {
      note(ticket_lock, other, seed >> 50);
    }
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; i++) {
    threads.emplace_back(work, i + 1);
  }
  for (auto &thread : threads) {
    thread.join();
  }
  return one.count == THREADS * (long)ROUNDS && other.count == THREADS * (long)ROUNDS / 4 ? 0 : 1;
}
