// The pointer is threadprivate; all copies point to one block.
// expect: race on block, lines 9 and 9
int block[10];
int *mine = block;
#pragma omp threadprivate(mine)

int main(void) {
#pragma omp parallel
  mine[3]++;
}
