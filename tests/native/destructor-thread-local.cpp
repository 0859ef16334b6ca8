// The destructor of a thread_local object runs at the thread's end, while main goes on.
// expect: race on x, lines 10 and 18
#include <thread>

int x;

struct Guard {
  int value = 0;
  ~Guard() {
    x = value;
  }
};

thread_local Guard guard;

int main() {
  std::thread a([] { guard.value = 1; });
  x = 2;
  a.join();
}
