#pragma once

#include <span>
#include <vector>

namespace assay {

struct Summary {
  double min = 0, p25 = 0, p50 = 0, p75 = 0;
  double mean = 0;
  double stdev = 0;  ///< of the sample (n - 1); 0 for one value
};

/// Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan, NumPy's default).
/// `sorted` is ascending and not empty; 0 <= q <= 1.
double quantile(std::span<const double> sorted, double q);

double median(std::vector<double> values);

/// Throws std::logic_error for no values.
Summary summarize(std::vector<double> values);

/// An interval of the median that needs no distribution: two order statistics that hold it with at least
/// 93 % probability (binomial; five values: smallest and largest, 93.75 %).
struct MedianInterval {
  double low = 0;
  double high = 0;
};
MedianInterval median_interval(std::vector<double> values);

}  // namespace assay
