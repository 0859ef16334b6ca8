// The counter is thread-private in name only.
// expect: race on thread_count, lines 8 and 8
int thread_count, total;

int main(void) {
#pragma omp parallel
  {
    thread_count++;
#pragma omp atomic
    total++;
  }
}
