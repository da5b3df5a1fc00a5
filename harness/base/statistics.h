#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay {

struct Summary {
  double min = 0, p25 = 0, p50 = 0, p75 = 0;
  double mean = 0;
  double stdev = 0;  ///< of the sample (n - 1); 0 for one value
};

/// Returns the quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan, NumPy's
/// default). `sorted` is ascending and not empty; 0 <= q <= 1.
double quantile(std::span<const double> sorted, double q);

double median(std::vector<double> values);

/// Throws std::logic_error for no values.
Summary summarize(std::vector<double> values);

/// A distribution-free confidence interval of the median: two order statistics that enclose it with at least
/// 93 % probability (binomial; for five values they are the smallest and the largest, 93.75 %; for ten or
/// more the probability is 93 to 98 %, by their number).
struct MedianInterval {
  double low = 0;
  double high = 0;
};
MedianInterval median_interval(std::vector<double> values);

/// Returns half the width of the median interval, in percent of the median.
double interval_pct(const std::vector<double>& values);

/// The 95 % interval of a probability, of which `hits` of `all` trials were seen: Wilson's score interval
/// (1927), which is meaningful for no hits too. From 0 to 1 if there were no trials.
struct Interval {
  double low = 0;
  double high = 1;
};
Interval share_interval(std::size_t hits, std::size_t all);
/// The probability of what was not seen in that many trials: were it larger, it would have been seen with
/// more than 95 %. 1 for no trials.
double unseen_share(std::size_t trials);

/// The binary logarithm of the number of ways to choose `k` of `n`; 0 if there is none (k > n).
double log2_choices(std::size_t n, std::size_t k);

/// The median and interval of the quotients a[k] / b[k].
struct Ratio {
  double median = 0;
  MedianInterval interval;
  int pairs = 0;
};

/// Compares two measurements that were taken in pairs, pair by pair, so that what affects both cancels.
/// Values without a partner are left out, and so are pairs with a value that is not positive. Returns nothing
/// if no pair is left.
std::optional<Ratio> paired_ratio(std::span<const double> a, std::span<const double> b);

}  // namespace assay
