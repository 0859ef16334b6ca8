// A reduction that the program declares, of a structure.
// expect: no race
struct range {
  int low, high;
};

static void widen(struct range *into, const struct range *other) {
  into->low = other->low < into->low ? other->low : into->low;
  into->high = other->high > into->high ? other->high : into->high;
}

#pragma omp declare reduction(widen : struct range : widen(&omp_out, &omp_in)) initializer(omp_priv = {1 << 30, -1})

struct range range = {1 << 30, -1};

int main(void) {
#pragma omp parallel for reduction(widen : range)
  for (int i = 10; i < 500; i++) {
    struct range one = {i, i};
    widen(&range, &one);
  }
  return range.low != 10 || range.high != 499;
}
