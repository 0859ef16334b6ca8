// Every thread of the team runs the taskloop: all of them write each element.
// expect: race on data, lines 10 and 10
int data[50];

int main(void) {
#pragma omp parallel
  {
#pragma omp taskloop
    for (int i = 0; i < 50; i++) {
      data[i] = i;
    }
  }
}
