// A declared reduction of vectors.
// expect: no race
#include <vector>

typedef std::vector<int> List;

static void append(List &into, const List &other) {
  into.insert(into.end(), other.begin(), other.end());
}

#pragma omp declare reduction(append : List : append(omp_out, omp_in)) initializer(omp_priv = List())

int main() {
  List all;
#pragma omp parallel for reduction(append : all)
  for (int i = 0; i < 100; i++) {
    all.push_back(i);
  }
  return all.size() != 100;
}
