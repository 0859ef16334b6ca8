// std::jthread joins when it goes out of scope; std::stop_token asks it to end.
// expect: no race
// options: -std=c++20
#include <thread>

int x;

int main() {
  {
    std::jthread worker([](std::stop_token stop) {
      while (!stop.stop_requested()) {
        std::this_thread::yield();
      }
      x = 1;
    });
  }
  x++;
  return x != 2;
}
