// A lambda captures a counter by value, and each thread has a copy of the lambda.
// expect: no race
int main() {
  int count = 0, wrong = 0;
  auto add = [count]() mutable { return ++count; };
#pragma omp parallel firstprivate(add) reduction(+ : wrong)
  {
    add();
    wrong += add() != 2;
  }
  return wrong;
}
