// A loop is divided among teams and threads; iterations need those before them.
// expect: race on data, lines 8 and 8
int data[400];

int main(void) {
#pragma omp teams distribute parallel for num_teams(2)
  for (int i = 2; i < 400; i++) {
    data[i] = data[i - 2] + 1;
  }
}
