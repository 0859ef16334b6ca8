// The chunk that counts to the end, with acquire and release, reads what all others have written.
// expect: no race
int part[64], done, sum;

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 64; i++) {
    part[i] = i;
    int now;
#pragma omp atomic capture acq_rel
    now = ++done;
    if (now == 64)
      for (int k = 0; k < 64; k++) sum += part[k];
  }
  return sum != 2016;
}
