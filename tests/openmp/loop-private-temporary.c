// The temporary variable is private.
// expect: no race
int temporary, data[100];

int main(void) {
#pragma omp parallel for private(temporary)
  for (int i = 0; i < 100; i++) {
    temporary = i + 1;
    data[i] = temporary;
  }
  return data[99] != 100;
}
