// A thread_local object that is made when a thread first needs it.
// expect: no race
#include <vector>

std::vector<int> &mine() {
  thread_local std::vector<int> list;
  return list;
}

int main() {
  int total = 0;
#pragma omp parallel reduction(+ : total)
  {
    mine().clear();
#pragma omp for schedule(dynamic, 3) nowait
    for (int i = 0; i < 100; i++) {
      mine().push_back(i);
    }
    total += mine().size();
  }
  return total != 100;
}
