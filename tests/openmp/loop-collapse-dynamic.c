// Two loops in one, dealt out one by one; the elements of a column add up.
// expect: race on column, lines 9 and 9
int column[8];

int main(void) {
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) {
      column[j] += i;
    }
  }
}
