// Tasks write to an array in their creator's frame, which waits for them.
// expect: no race
// threads: 1 2 4 16
int fill(int depth) {
  int part[2] = {0, 0};
  if (depth == 0) {
    return 1;
  }
#pragma omp task shared(part)
  part[0] = fill(depth - 1);
#pragma omp task shared(part)
  part[1] = fill(depth - 1);
#pragma omp taskwait
  return part[0] + part[1];
}

int main(void) {
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fill(6);
  return result != 64;
}
