// An object is destroyed although another thread's virtual call on it is not ordered before: the
// destructor of the base changes what the call looked up.
// expect: race on *, lines 17 and 20
// options: -O2
#include <atomic>
#include <new>
#include <thread>

std::atomic<bool> called;

struct Shape {
  virtual void draw() {}
  virtual ~Shape();
};

__attribute__((noinline)) void draw(Shape *shape) {
  shape->draw();
}

Shape::~Shape() {
  ::draw(this);
}

struct Circle : Shape {
  void draw() override {}
};

alignas(Circle) char room[sizeof(Circle)];

int main() {
  Shape *shape = new (room) Circle;
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
