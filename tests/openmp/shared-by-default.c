// A variable of the enclosing function is shared by default.
// expect: race on local, lines 7 and 7
int main(void) {
  int local = 0;
#pragma omp parallel
  {
    local++;
  }
  return 0;
}
