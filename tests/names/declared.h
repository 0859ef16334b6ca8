// What both files of `declared.cpp` know.
class Cache {
  int size;
  long hits;

public:
  Cache();
  virtual ~Cache();
  virtual void touch();
};
