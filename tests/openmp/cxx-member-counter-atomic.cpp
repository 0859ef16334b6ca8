// A member function counts in a member atomically.
// expect: no race
struct Counter {
  void add() {
#pragma omp atomic
    value++;
  }
  int value = 0;
} counter;

int main() {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    counter.add();
  }
  return counter.value != 100;
}
