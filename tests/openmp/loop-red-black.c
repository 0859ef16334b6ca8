// The sweep works in one array, first on odd elements, then on even ones.
// expect: no race
double data[200];

int main(void) {
#pragma omp parallel
  for (int sweep = 0; sweep < 4; sweep++) {
    for (int colour = 0; colour < 2; colour++) {
#pragma omp for
      for (int i = 1 + colour; i < 199; i += 2) {
        data[i] = (data[i - 1] + data[i + 1] + 1) / 2;
      }
    }
  }
  return data[1] == 0;
}
