// A lambda captures a counter by reference, and all threads call it.
// expect: race on count, lines 6 and 6
int main() {
  int count = 0;
  auto add = [&count] {
    count++;
  };
#pragma omp parallel
  add();
}
