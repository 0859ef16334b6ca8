// Two mutexinoutsets of different variables do not exclude each other.
// expect: race on x, lines 11 and 13
// threads: 1 2 4 16
int x, y, z;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(mutexinoutset : y)
    x++;
#pragma omp task depend(mutexinoutset : z)
    x++;
  }
}
