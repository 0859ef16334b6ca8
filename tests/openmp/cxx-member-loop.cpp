// A member function divides a loop over a member.
// expect: no race
class Table {
public:
  void fill() {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) {
      values[i] = i * scale;
    }
  }
  int last() const { return values[99]; }

private:
  int values[100] = {};
  int scale = 2;
};

int main() {
  Table table;
  table.fill();
  return table.last() != 198;
}
