// The same with a lock that both threads hold when they touch it.
// expect: no race
// options: -std=c++17
#include <mutex>
#include <thread>

#include "schedule.h"

int settings;
int a, b, c, d;
std::mutex first, second;

void load() {
  std::lock_guard<std::mutex> guard(first);
  settings = 7;
  a = 1;
  pass(1);
}

void relay() {
  wait_for(1);
  {
    std::lock_guard<std::mutex> guard(first);
    b = 1;
  }
  std::lock_guard<std::mutex> guard(second);
  c = 1;
  pass(2);
}

void use() {
  wait_for(2);
  std::lock_guard<std::mutex> guard(first);
  int now = settings;
  d = now;
}

int main() {
  std::thread x(load), y(relay), z(use);
  x.join();
  y.join();
  z.join();
}
