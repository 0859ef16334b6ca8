// A third thread passes the order on, from one lock to another; none of the sections need the others.
// expect: race on settings, lines 14 and 37
// options: -std=c++17
#include <mutex>
#include <thread>

#include "schedule.h"

int settings;
int a, b, c, d;
std::mutex first, second;

void load() {
  settings = 7;
  std::lock_guard<std::mutex> guard(first);
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
  {
    std::lock_guard<std::mutex> guard(second);
    d = 1;
  }
  int now = settings;
  (void)now;
  d = now;
}

int main() {
  std::thread x(load), y(relay), z(use);
  x.join();
  y.join();
  z.join();
}
