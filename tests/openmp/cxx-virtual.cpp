// Threads call a virtual function of their own objects.
// expect: no race
#include <memory>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};

int main() {
  std::vector<std::unique_ptr<Shape>> shapes(40);
  double sum = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 40; i++) {
      shapes[i] = std::make_unique<Square>(1);
    }
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 40; i++) {
      sum += shapes[39 - i]->area();
    }
  }
  return sum != 40;
}
