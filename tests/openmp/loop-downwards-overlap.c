// A loop that counts down in steps of three; each iteration touches one element too many.
// expect: race on data, lines 8 and 10
int data[903];

int main(void) {
#pragma omp parallel for
  for (int i = 899; i >= 0; i -= 3) {
    data[i] = i;
    data[i + 1] = i;
    data[i + 3] = i;
  }
}
