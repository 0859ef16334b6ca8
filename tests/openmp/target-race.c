// A target region on the host; its threads add to one counter.
// expect: race on count, lines 8 and 8
int count;

int main(void) {
#pragma omp target map(tofrom : count)
#pragma omp parallel
  count++;
}
