// Trains by libsvmloc, as PSORTb does. Its package has no header: these are the names that it
// exports.
#include <cstdio>

class DataSet {
 public:
  explicit DataSet(double label);
  ~DataSet();
  void setAttribute(int index, double value);

 private:
  char room_[4096];  // more than it has
};

class SVM {
 public:
  SVM(int type, int kernel, int degree, double gamma, double coef0, double cost, double nu,
      double epsilon);
  ~SVM();
  void addDataSet(DataSet* row);
  int train(int again);
  double predict(DataSet* row);
  double predict_value(DataSet* row);
  double crossValidate(int folds);

 private:
  char room_[65536];
};

int main() {
  SVM machine(0, 2, 3, 1, 0, 1, 0.5, 0.1);
  DataSet* rows[60];
  for (int i = 0; i < 60; ++i) {
    const double a = (i % 9 - 4) / 4.0, b = (5 * i % 7 - 3) / 3.0;
    rows[i] = new DataSet(a * b > 0 ? 1 : -1);
    rows[i]->setAttribute(1, a);
    rows[i]->setAttribute(2, b);
    machine.addDataSet(rows[i]);
  }
  std::printf("trained %d\n", machine.train(0));
  for (DataSet* row : rows)
    std::printf("row %g %.1f\n", machine.predict(row), machine.predict_value(row));
}
