// The destructor of a thread_local object has run when the thread is joined.
// expect: no race
#include <thread>

int x;

struct Guard {
  int value = 0;
  ~Guard() { x = value; }
};

thread_local Guard guard;

int main() {
  std::thread a([] { guard.value = 1; });
  a.join();
  x++;
  return x != 2;
}
