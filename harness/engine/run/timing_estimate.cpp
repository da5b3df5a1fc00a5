#include "harness/engine/run/timing_estimate.h"

namespace assay {

void TimingEstimate::note(std::size_t rows, double wall_s) {
  rows_ += rows;
  wall_s_ += wall_s;
}

double TimingEstimate::seconds(std::size_t rows) const {
  const double row_s = rows_ > 0 ? wall_s_ / static_cast<double>(rows_) : first_guess_s_;
  return row_s * static_cast<double>(rows);
}

}  // namespace assay
