// Threads read a map that nobody changes.
// expect: no race
#include <map>

int main() {
  std::map<int, int> squares;
  for (int i = 0; i < 50; i++) {
    squares[i] = i * i;
  }
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 5)
  for (int i = 0; i < 50; i++) {
    sum += squares.find(i)->second;
  }
  return sum != 40425;
}
