// Two holders of a std::shared_lock write.
// expect: race on x, lines 12 and 12
#include <shared_mutex>
#include <thread>

int x;
std::shared_mutex m;

int main() {
  auto pretender = [] {
    std::shared_lock lock(m);
    x++;
  };
  std::thread a(pretender), b(pretender);
  a.join();
  b.join();
}
