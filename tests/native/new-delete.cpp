// new and delete, plain, arrays and aligned: memory given back is new to the next thread.
// expect: no race
#include <atomic>
#include <thread>

struct alignas(64) Line {
  long words[8];
};

std::atomic<int> done;

void worker() {
  for (int i = 0; i < 100; i++) {
    long *one = new long(i);
    int *many = new int[20]();
    Line *line = new Line();
    *one += many[3];
    many[4] = *one;
    line->words[2] = many[4];
    delete one;
    delete[] many;
    delete line;
  }
  done.fetch_add(1, std::memory_order_relaxed);
}

int main() {
  for (int i = 0; i < 4; i++) {
    std::thread(worker).detach();
    while (done.load(std::memory_order_relaxed) <= i) {
      std::this_thread::yield();
    }
  }
}
