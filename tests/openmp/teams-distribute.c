// A loop is divided among teams, and inside these among threads.
// expect: no race
int data[400];

int main(void) {
#pragma omp teams distribute parallel for num_teams(2)
  for (int i = 0; i < 400; i++) {
    data[i] = i;
  }
  return data[399] != 399;
}
