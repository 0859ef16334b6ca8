// Reductions of several kinds at once.
// expect: no race
int largest, smallest = 1000, all = 1, any, bits;
double product = 1;

int main(void) {
#pragma omp parallel for reduction(max : largest) reduction(min : smallest) reduction(&& : all)                          \
    reduction(|| : any) reduction(| : bits) reduction(* : product)
  for (int i = 1; i < 300; i++) {
    largest = i > largest ? i : largest;
    smallest = i < smallest ? i : smallest;
    all = all && i > 0;
    any = any || i == 77;
    bits |= i;
    product *= 1;
  }
  return largest != 299 || smallest != 1 || !all || !any || bits != 511 || product != 1;
}
