#include "harness/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace assay {
namespace {

/// Least probability that an interval has the median. As it ends at order statistics, it has more for most
/// numbers of values: 97.9 % for 10, 93.5 % for 11.
constexpr double interval_confidence = 0.93;

/// Returns the largest k, 1 or more, for which the median lies between order statistics k and n+1-k (1-based)
/// of n values with at least the probability interval_confidence: 1 - 2 * P(Binomial(n, 1/2) < k). Sums
/// logarithms, as 2^-n is no double for n of a thousand values.
int order_statistic_below_median(int n) {
  double log_term = -n * std::log(2.0);  // of P(Binomial(n, 1/2) = k)
  double below = std::exp(log_term);     // P(Binomial(n, 1/2) <= k)
  int k = 0;
  while (2 * (k + 1) <= n && 1 - 2 * below >= interval_confidence) {
    log_term += std::log(n - k) - std::log(k + 1);
    ++k;
    below += std::exp(log_term);
  }
  return std::max(k, 1);
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) throw std::logic_error("quantile of no values");
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

Summary summarize(std::vector<double> values) {
  if (values.empty()) throw std::logic_error("summary of no values");
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  Summary summary{.min = values.front(),
                  .p25 = quantile(values, 0.25),
                  .p50 = quantile(values, 0.5),
                  .p75 = quantile(values, 0.75)};
  summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.stdev = values.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return summary;
}

Interval share_interval(std::size_t hits, std::size_t all) {
  if (all == 0) return {};
  constexpr double z = 1.959963984540054;  // the normal distribution has 95 % within
  const auto n = static_cast<double>(all);
  const double p = static_cast<double>(hits) / n, denominator = 1 + z * z / n;
  const double center = p + z * z / (2 * n), half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {hits == 0 ? 0 : (center - half) / denominator, hits == all ? 1 : (center + half) / denominator};
}

double unseen_share(std::size_t trials) {
  constexpr double left = 0.05;
  return trials == 0 ? 1 : 1 - std::pow(left, 1 / static_cast<double>(trials));
}

double log2_choices(std::size_t n, std::size_t k) {
  if (k > n) return 0;
  const auto log_factorial = [](std::size_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  return (log_factorial(n) - log_factorial(k) - log_factorial(n - k)) / std::numbers::ln2;
}

MedianInterval median_interval(std::vector<double> values) {
  if (values.empty()) throw std::logic_error("median interval of no values");
  std::sort(values.begin(), values.end());
  const int n = static_cast<int>(values.size());
  const int k = order_statistic_below_median(n);
  return {values[static_cast<std::size_t>(k - 1)], values[static_cast<std::size_t>(n - k)]};
}

double interval_pct(const std::vector<double>& values) {
  const double middle = median(values);
  const MedianInterval interval = median_interval(values);
  return middle > 0 ? 100 * (interval.high - interval.low) / 2 / middle : 0;
}

std::optional<Ratio> paired_ratio(std::span<const double> a, std::span<const double> b) {
  std::vector<double> quotients;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    if (a[k] > 0 && b[k] > 0) quotients.push_back(a[k] / b[k]);
  }
  if (quotients.empty()) return std::nullopt;
  return Ratio{median(quotients), median_interval(quotients), static_cast<int>(quotients.size())};
}

}  // namespace assay
