// An object is destroyed although another thread's virtual call on it is not ordered before.
// expect: race on heap block of 16 bytes, lines 22 and 11
#include <atomic>
#include <thread>

std::atomic<bool> called;

struct Shape {
  int calls = 0;
  virtual void draw() {}
  virtual ~Shape() {
    calls = -1;
  }
};

struct Circle : Shape {
  void draw() override {}
  ~Circle() override {}
};

__attribute__((noinline)) void draw(Shape *shape) {
  shape->draw();
}

int main() {
  Shape *shape = new Circle;
  std::thread a([=] {
    draw(shape);
    called.store(true, std::memory_order_relaxed);
  });
  while (!called.load(std::memory_order_relaxed)) {
    std::this_thread::yield();
  }
  shape->~Shape();
  a.join();
}
