// Two iterations of many write the same element: whichever threads run them, that is a race.
// expect: race on shared, lines 10 and 10
int data[200], shared;

int main(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 200; i++) {
    data[i] = i;
    if (i == 3 || i == 4) {
      shared = i;
    }
  }
}
