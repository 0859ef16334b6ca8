// The `loop` construct; iterations read what others write.
// expect: race on data, lines 10 and 10
int data[100];

int main(void) {
#pragma omp parallel
  {
#pragma omp loop
    for (int i = 0; i < 98; i++) {
      data[i] = data[i + 2];
    }
  }
}
