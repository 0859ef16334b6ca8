// Iterations that are handed out one by one add up in their order, and compute before that without order.
// expect: no race
int sum, square[60];

int main(void) {
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < 60; i++) {
    square[i] = i * i;
#pragma omp ordered
    sum += square[i];
  }
  return sum != 70210;
}
