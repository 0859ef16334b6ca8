// The guard has no name, so it is destroyed at once.
// expect: race on x, lines 22 and 22
#include <omp.h>

class Guard {
public:
  explicit Guard(omp_lock_t &lock) : lock(lock) { omp_set_lock(&lock); }
  ~Guard() { omp_unset_lock(&lock); }

private:
  omp_lock_t &lock;
};

int x;
omp_lock_t lock;

int main() {
  omp_init_lock(&lock);
#pragma omp parallel
  {
    Guard{lock};
    x++;
  }
  omp_destroy_lock(&lock);
}
