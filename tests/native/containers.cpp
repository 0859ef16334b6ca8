// Threads read a shared map, and fill vectors and strings of their own.
// expect: no race
#include <map>
#include <string>
#include <thread>
#include <vector>

std::map<int, std::string> names;

int main() {
  for (int i = 0; i < 20; i++) {
    names[i] = std::string(40, 'a' + i);
  }
  size_t lengths[2] = {};
  auto worker = [](size_t *length) {
    std::vector<std::string> mine;
    for (const auto &[number, name] : names) {
      mine.push_back(name + std::to_string(number));
    }
    for (const auto &name : mine) {
      *length += name.size();
    }
  };
  std::thread a(worker, &lengths[0]), b(worker, &lengths[1]);
  a.join();
  b.join();
  return lengths[0] != lengths[1];
}
