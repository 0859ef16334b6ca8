// tasks: LU decomposition of a blocked matrix, ordered by dependences.
#define DEPEND
#include "sparselu.c"
