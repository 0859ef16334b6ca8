// Tasks append to one vector.
// expect: race on *, lines 14 and 16
// threads: 1 2 4 16
#include <vector>

std::vector<char> text;

int main() {
#pragma omp parallel
#pragma omp single
  {
    text.reserve(100);
#pragma omp task
    text.push_back('a');
#pragma omp task
    text.push_back('b');
  }
}
