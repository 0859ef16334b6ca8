// Tasks append to one string, one after the other.
// expect: no race
// threads: 1 2 4 16
#include <string>

int main() {
  std::string text;
#pragma omp parallel
#pragma omp single
  for (char letter = 'a'; letter <= 'z'; letter++) {
#pragma omp task shared(text) depend(inout : text)
    text += letter;
  }
  return text != "abcdefghijklmnopqrstuvwxyz";
}
