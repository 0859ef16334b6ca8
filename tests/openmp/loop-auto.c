// The runtime chooses the schedule; iterations touch different elements.
// expect: no race
int data[1000];

int main(void) {
#pragma omp parallel for schedule(auto)
  for (int i = 0; i < 1000; i++) {
    data[i] = i;
  }
  return data[999] != 999;
}
