// The largest element and its place, by a reduction of our own.
// expect: no race
typedef struct { int value, where; } Best;
#pragma omp declare reduction(best : Best : omp_out = omp_in.value > omp_out.value ? omp_in : omp_out) initializer(omp_priv = {-1, -1})
int data[300];
int main(void) {
  Best b = {-1, -1};
  for (int i = 0; i < 300; i++) data[i] = (i * 37) % 301;
#pragma omp parallel for reduction(best : b) schedule(dynamic, 7)
  for (int i = 0; i < 300; i++)
    if (data[i] > b.value) { b.value = data[i]; b.where = i; }
  return b.value != 300;
}
