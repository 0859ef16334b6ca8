// A reduction of a class with an operator.
// expect: no race
struct Complex {
  double re = 0, im = 0;
  Complex &operator+=(const Complex &other) {
    re += other.re;
    im += other.im;
    return *this;
  }
};

#pragma omp declare reduction(+ : Complex : omp_out += omp_in)

int main() {
  Complex sum;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    Complex one;
    one.re = 1;
    one.im = i;
    sum += one;
  }
  return sum.re != 100 || sum.im != 4950;
}
