// Each team has an element.
// expect: no race
#include <omp.h>
int part[64], total;
int main(void) {
#pragma omp teams num_teams(4)
  part[omp_get_team_num()] += 1;
  for (int i = 0; i < 64; i++) total += part[i];
  return total < 1;
}
