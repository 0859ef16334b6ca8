// Tasks of a chunk are siblings only of each other: dependences order them, and a taskwait the chunk.
// expect: no race
int a[32];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 32; i++) {
#pragma omp task depend(out : a[i])
    a[i] = i;
#pragma omp task depend(inout : a[i])
    a[i] *= 2;
#pragma omp taskwait
    a[i]++;
  }
  return a[31] != 63;
}
