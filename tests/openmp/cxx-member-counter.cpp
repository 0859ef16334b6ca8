// A member function counts in a member; all threads call it on one object.
// expect: race on counter, lines 5 and 5
struct Counter {
  void add() {
    value++;
  }
  int value = 0;
} counter;

int main() {
#pragma omp parallel
  counter.add();
}
