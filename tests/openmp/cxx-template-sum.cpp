// A template adds to a static member: each type has one, which all threads share.
// expect: race on *, lines 6 and 6
template <typename T> struct Sum {
  static T value;
  static void add(T what) {
    value += what;
  }
};
template <typename T> T Sum<T>::value;

int main() {
#pragma omp parallel
  Sum<int>::add(1);
  return Sum<int>::value < 0;
}
