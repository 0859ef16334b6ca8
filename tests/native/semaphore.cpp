// std::binary_semaphore hands x to and fro.
// expect: no race
// options: -std=c++20
#include <semaphore>
#include <thread>

int x;
std::binary_semaphore to(0), fro(0);

int main() {
  std::thread a([] {
    for (int i = 0; i < 50; i++) {
      to.acquire();
      x++;
      fro.release();
    }
  });
  for (int i = 0; i < 50; i++) {
    x++;
    to.release();
    fro.acquire();
  }
  a.join();
  return x != 100;
}
