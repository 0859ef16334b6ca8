// A class sets a lock of OpenMP when it is made, and unsets it when it is destroyed.
// expect: no race
#include <omp.h>

class Guard {
public:
  explicit Guard(omp_lock_t &lock) : lock(lock) { omp_set_lock(&lock); }
  ~Guard() { omp_unset_lock(&lock); }

private:
  omp_lock_t &lock;
};

int x;

int main() {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    Guard guard(lock);
    x++;
  }
  omp_destroy_lock(&lock);
  return x != 100;
}
