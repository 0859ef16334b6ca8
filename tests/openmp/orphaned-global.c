// A function that all threads call counts in a global variable.
// expect: race on calls, lines 6 and 6
int calls;

void work(int *result) {
  calls++;
  *result = 1;
}

int main(void) {
#pragma omp parallel
  {
    int result;
    work(&result);
  }
}
