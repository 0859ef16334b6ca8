// A critical section in a function that several places call.
// expect: no race
int calls;

void note(void) {
#pragma omp critical
  calls++;
}

int main(void) {
#pragma omp parallel
  {
    note();
#pragma omp sections
    {
#pragma omp section
      note();
#pragma omp section
      note();
    }
  }
  return calls < 4;
}
