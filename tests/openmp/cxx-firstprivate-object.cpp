// Tasks have copies of an object.
// expect: no race
// threads: 1 2 4 16
#include <vector>

int size[20];

int main() {
#pragma omp parallel
#pragma omp single
  {
    std::vector<int> list;
    for (int i = 0; i < 20; i++) {
      list.push_back(i);
#pragma omp task firstprivate(list)
      {
        list.push_back(0);
        size[i] = list.size();
      }
    }
  }
  return size[19] != 21;
}
