// A part of what each iteration does is ordered; the part before it is not.
// expect: race on length, lines 8 and 8
int sum, length;

int main(void) {
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < 60; i++) {
    length++;
#pragma omp ordered
    sum += i;
  }
}
