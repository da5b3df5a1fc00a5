#include "harness/engine/diagnosis/place_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay {
namespace {

/// The binary logarithm of the number of ways to choose `k` of `n`.
double log2_choices(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  return (log_factorial(n) - log_factorial(k) - log_factorial(n - k)) / std::numbers::ln2;
}

bool is_at_an_end(const WrongOutput& output, std::int64_t i) {
  const double value = output.expected(i);
  return output.is_integer() && (value <= output.lowest() || value >= output.highest());
}

/// Whether errors show at the ends of the range as well.
bool shows_at_ends(const WrongOutput& output) {
  const auto at_ends =
      std::ranges::count_if(output.wrong(), [&](std::int64_t i) { return is_at_an_end(output, i); });
  return static_cast<double>(at_ends) > (1 - least_share) * static_cast<double>(output.wrong().size());
}

}  // namespace

double PlaceEvidence::bits() const {
  const std::int64_t there = wrong_there + right_there;
  return log2_choices(there + right_elsewhere, wrong_there) - log2_choices(there, wrong_there);
}

std::string PlaceEvidence::text() const {
  const std::int64_t elsewhere = wrong_elsewhere + right_elsewhere;
  return fmt::format("; elsewhere {} of {} element{} wrong", wrong_elsewhere, elsewhere,
                     elsewhere == 1 ? " is" : "s are");
}

PlaceEvidence place_evidence(const WrongOutput& output, const std::function<bool(std::int64_t)>& is_there) {
  PlaceEvidence evidence;
  for (const std::int64_t i : output.wrong())
    ++(is_there(i) ? evidence.wrong_there : evidence.wrong_elsewhere);
  const bool count_ends = shows_at_ends(output);
  for (const std::int64_t i : output.right()) {
    if (is_there(i)) {
      ++evidence.right_there;
    } else if (count_ends || !is_at_an_end(output, i)) {
      ++evidence.right_elsewhere;
    }
  }
  return evidence;
}

}  // namespace assay
