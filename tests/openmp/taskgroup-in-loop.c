// A taskgroup in each chunk waits for its tasks and theirs.
// expect: no race
int part[32][2], sum[32];

int main(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 32; i++) {
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp task
        part[i][0] = i;
        part[i][1] = i;
      }
    }
    sum[i] = part[i][0] + part[i][1];
  }
  return sum[31] != 62;
}
