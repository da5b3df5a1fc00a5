#include "harness/engine/diagnosis/place_evidence.h"

#include "harness/base/statistics.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

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
  const auto wrong = static_cast<std::size_t>(wrong_there);
  const std::size_t there = wrong + static_cast<std::size_t>(right_there);
  return log2_choices(there + static_cast<std::size_t>(right_elsewhere), wrong) - log2_choices(there, wrong);
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
