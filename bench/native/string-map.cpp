// users: std::unordered_map of strings under a shared_mutex; 31 of 32 only look.
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

enum { THREADS = 2, ROUNDS = 1000000, NAMES = 4096 };
static std::shared_mutex mutex;
static std::unordered_map<std::string, std::vector<int>> table;
static long found[THREADS];

static void work(int who) {
  unsigned seed = who + 1;
  for (int i = 0; i < ROUNDS; i++) {
    seed = seed * 1103515245 + 12345;
    std::string name = "the name of " + std::to_string((seed >> 8) % NAMES);
    if (seed >> 27 == 0) {
      std::unique_lock<std::shared_mutex> lock(mutex);
      auto &values = table[name];
      values.push_back(i);
      if (values.size() > 16) {
        table.erase(name);
      }
    } else {
      std::shared_lock<std::shared_mutex> lock(mutex);
      auto entry = table.find(name);
      if (entry != table.end()) {
        for (int value : entry->second) {
          found[who] += value & 1;
        }
      }
    }
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; i++) {
    threads.emplace_back(work, i);
  }
  for (auto &thread : threads) {
    thread.join();
  }
  return found[0] + found[1] > 0 ? 0 : 1;
}
