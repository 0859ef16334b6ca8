// A temporary variable is declared outside the loop, and so shared.
// expect: race on temporary, lines 8 and 8
int temporary, data[100];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    temporary = i + 1, data[i] = temporary;
  }
}
