// Each thread takes numbers, and writes to the elements of these numbers.
// expect: no race
int next, data[200];

int main(void) {
#pragma omp parallel
  for (;;) {
    int mine;
#pragma omp atomic capture
    mine = next++;
    if (mine >= 200) {
      break;
    }
    data[mine] = mine;
  }
  return data[199] != 199;
}
