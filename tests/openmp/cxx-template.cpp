// A template with a divided loop, for two types.
// expect: no race
#include <vector>

template <typename T> void scale(std::vector<T> &data, T by) {
#pragma omp parallel for
  for (long i = 0; i < (long)data.size(); i++) {
    data[i] *= by;
  }
}

int main() {
  std::vector<int> whole(100, 2);
  std::vector<double> real(100, 0.5);
  scale(whole, 3);
  scale(real, 4.0);
  return whole[99] != 6 || real[99] != 2;
}
