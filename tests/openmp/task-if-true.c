// The condition for being deferred holds: the tasks run at the same time.
// expect: race on x, lines 11 and 11
// threads: 1 2 4 16
int x, many = 1;

int main(int count, char **arguments) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task if (many > 0)
    x++;
  }
}
