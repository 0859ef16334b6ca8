// The last of several std::shared_ptr destroys the object, after all others have used it.
// expect: no race
#include <memory>
#include <thread>

struct Object {
  int value = 1;
  ~Object() { value = 0; }
};

int main() {
  auto object = std::make_shared<Object>();
  auto worker = [](std::shared_ptr<Object> mine) {
    volatile int seen = mine->value;
    (void)seen;
  };
  std::thread a(worker, object), b(worker, object), c(worker, std::move(object));
  a.join();
  b.join();
  c.join();
}
