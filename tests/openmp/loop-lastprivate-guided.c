// The last iteration hands out its array.
// expect: no race
int main(void) {
  int t[4] = {0}, last = 0;
#pragma omp parallel for schedule(guided) lastprivate(t, last)
  for (int i = 0; i < 500; i++) {
    for (int k = 0; k < 4; k++) t[k] = i + k;
    last = i;
  }
  return t[3] != 502 || last != 499;
}
