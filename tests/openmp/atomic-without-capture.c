// Each thread counts up atomically, and reads the number afterwards without that.
// expect: race on next, lines 9 and 10
int next, data[64];

int main(void) {
#pragma omp parallel
  {
#pragma omp atomic
    next++;
    int mine = next;
    __atomic_store_n(&data[mine], 1, __ATOMIC_RELAXED);
  }
}
