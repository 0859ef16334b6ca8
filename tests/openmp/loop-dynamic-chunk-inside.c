// Only iterations of the same chunk of four touch the same element.
// expect: no race
int data[50];

int main(void) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int i = 0; i < 200; i++) {
    data[i / 4] += i;
  }
  return data[49] != 790;
}
