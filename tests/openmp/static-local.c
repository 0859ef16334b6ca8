// A function with a static variable is called by all threads.
// expect: race on *, lines 7 and 7
int data[64];

int next(void) {
  static int count;
  return ++count;
}

int main(void) {
#pragma omp parallel
  __atomic_store_n(&data[next() & 63], 1, __ATOMIC_RELAXED);
}
