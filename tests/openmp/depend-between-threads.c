// Each thread of the team creates a task: these have different parents, so their dependences order nothing.
// expect: race on x, lines 9 and 9
int x;

int main(void) {
#pragma omp parallel
  {
#pragma omp task depend(inout : x)
    x++;
  }
}
