#pragma once

#include <optional>
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

/// Half the width of that interval, in percent of the median.
double interval_pct(const std::vector<double>& values);

/// Median and interval of the quotients a[k] / b[k].
struct Ratio {
  double median = 0;
  MedianInterval interval;
  int pairs = 0;
};

/// Two measurements that were taken in pairs, compared pair by pair, so that what both share leaves the
/// quotient. Values behind the shorter one's end have no partner and are left out; a value that is not
/// positive leaves its pair out. Absent when no pair is left.
std::optional<Ratio> paired_ratio(std::span<const double> a, std::span<const double> b);

}  // namespace assay
