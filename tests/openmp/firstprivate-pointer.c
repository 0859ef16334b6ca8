// Each thread has a copy of a pointer, not of the array.
// expect: race on data, lines 10 and 10
int data[10];

int main(void) {
  int *p = data;
#pragma omp parallel firstprivate(p)
  {
    p += 3;
    ++*p;
  }
}
