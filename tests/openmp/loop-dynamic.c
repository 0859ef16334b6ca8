// Iterations are handed out one by one, and touch different elements.
// expect: no race
int data[200];

int main(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 200; i++) {
    data[i] += i;
  }
  return data[199] != 199;
}
