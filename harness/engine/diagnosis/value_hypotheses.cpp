#include "harness/engine/diagnosis/value_hypotheses.h"

#include "harness/base/text.h"
#include "harness/engine/diagnosis/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace assay {
namespace {

using Places = std::span<const std::int64_t>;

double share_of(Places places, const std::function<bool(std::int64_t)>& is_so) {
  if (places.empty()) return 0;
  return static_cast<double>(std::ranges::count_if(places, is_so)) / static_cast<double>(places.size());
}

/// The most frequent value and its count.
struct Mode {
  double value = 0;
  double share = 0;
};

Mode most_common(Places places, const std::function<double(std::int64_t)>& value_at) {
  std::map<double, std::size_t> counts;
  for (const std::int64_t i : places) {
    if (const double value = value_at(i); !std::isnan(value)) ++counts[value];
  }
  Mode mode;
  for (const auto& [value, count] : counts) {
    const auto share = static_cast<double>(count) / static_cast<double>(places.size());
    if (share > mode.share) mode = {value, share};
  }
  return mode;
}

struct Range {
  double low = 0, high = 0;
};

Range expected_range(const WrongOutput& output) {
  Range range{INFINITY, -INFINITY};
  for (const Places& places : {output.wrong(), output.right()}) {
    for (const std::int64_t i : places) {
      const double value = output.expected(i);
      if (std::isnan(value)) continue;
      range = {std::min(range.low, value), std::max(range.high, value)};
    }
  }
  return range;
}

std::string end_text(const char* which, double value) {
  return std::string("the ") + which + " end of the range, " + shortest(value);
}

/// Explains elements that should be at an end of the range and are not.
std::optional<Explanation> missed_end(const WrongOutput& output, const Range& range) {
  const Mode end = most_common(output.wrong(), [&](std::int64_t i) { return output.expected(i); });
  if (end.share < least_share || (end.value != range.low && end.value != range.high)) return std::nullopt;
  const double right =
      share_of(output.right(), [&](std::int64_t i) { return output.expected(i) == end.value; });
  const double wrong_at_end = end.share * static_cast<double>(output.wrong().size());
  const double right_at_end = right * static_cast<double>(output.right().size());
  if (wrong_at_end < right_at_end) return std::nullopt;
  const PlaceEvidence evidence =
      place_evidence(output, [&](std::int64_t i) { return output.expected(i) == end.value; });
  if (evidence.bits() < least_place_bits) return std::nullopt;
  const char* which = end.value == range.low ? "lower" : "upper";
  return Explanation{
      ErrorKind::Clamp,
      "where " + end_text(which, end.value) + ", is expected, the answer is another" + evidence.text(),
      end.share};
}

/// Explains an answer that stops at a value which expected values exceed.
std::optional<Explanation> early_end(const WrongOutput& output, const Range& range) {
  const Mode stop = most_common(output.wrong(), [&](std::int64_t i) { return output.got(i); });
  if (stop.share < least_share) return std::nullopt;
  const auto is_beyond = [&](double sign) {
    return [&output, &stop, sign](std::int64_t i) { return sign * output.expected(i) > sign * stop.value; };
  };
  for (const double sign : {1.0, -1.0}) {
    const double end = sign > 0 ? range.high : range.low;
    const double beyond = share_of(output.wrong(), is_beyond(sign));
    if (end == stop.value || beyond < least_share || share_of(output.right(), is_beyond(sign)) > 0) continue;
    return Explanation{ErrorKind::Clamp,
                       "the answer stops at " + shortest(stop.value) + "; " +
                           end_text(sign > 0 ? "upper" : "lower", end) + ", is not reached",
                       std::min(stop.share, beyond)};
  }
  return std::nullopt;
}

bool is_clamped(const WrongOutput& output, double value) {
  return output.is_integer() && (value <= output.lowest() || value >= output.highest());
}

/// Elements that clamping cannot hide: neither the answer nor the expected value is at an end of the range.
std::vector<std::int64_t> inside_range(const WrongOutput& output, Places places) {
  std::vector<std::int64_t> inside;
  for (const std::int64_t i : places) {
    if (!is_clamped(output, output.got(i)) && !is_clamped(output, output.expected(i))) inside.push_back(i);
  }
  return inside;
}

double clamped(const WrongOutput& output, double value) {
  return output.is_integer() ? std::clamp(value, output.lowest(), output.highest()) : value;
}

/// A value stored in a byte without clamping.
double wrapped(const WrongOutput& output, double value) {
  constexpr double bytes = 256;
  const DType dtype = output.spec().dtype;
  if (dtype != DType::I8 && dtype != DType::U8) return value;
  const auto low = static_cast<double>(lowest(dtype));
  return value - bytes * std::floor((value - low) / bytes);
}

double median_of(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double median_over(Places places, const std::function<double(std::int64_t)>& value_at) {
  std::vector<double> values;
  for (const std::int64_t i : places) {
    if (const double value = value_at(i); std::isfinite(value)) values.push_back(value);
  }
  return median_of(std::move(values));
}

/// A direction in which integers may be off by one.
struct Direction {
  const char* text;
  std::function<bool(std::int64_t i, double error)> fits;
};

std::vector<Direction> directions(const WrongOutput& output,
                                  const std::function<double(std::int64_t)>& zero_of) {
  std::vector<Direction> all{
      {"off by one, up or down", [](std::int64_t, double error) { return std::fabs(error) == 1; }},
      {"one more than expected, as if rounded up", [](std::int64_t, double error) { return error == 1; }},
      {"one less than expected, as if rounded down", [](std::int64_t, double error) { return error == -1; }}};
  if (!zero_of) return all;
  const auto outwards = [&output, zero_of](std::int64_t i, double error) {
    const double from_zero = output.expected(i) - zero_of(i);
    return from_zero == 0 ? 0.0 : error * (from_zero > 0 ? 1 : -1);
  };
  all.push_back({"one nearer to zero than expected, as if truncated",
                 [outwards](std::int64_t i, double error) { return outwards(i, error) == -1; }});
  all.push_back({"one further from zero than expected, as if rounded away from it",
                 [outwards](std::int64_t i, double error) {
                   const double out = outwards(i, error);
                   return out == 1 || (out == 0 && std::fabs(error) == 1);
                 }});
  return all;
}

}  // namespace

std::optional<Explanation> explain_unwritten(const WrongOutput& output) {
  return if_enough({ErrorKind::Unwritten, "nothing stores these elements",
                    share_of(output.wrong(), [&](std::int64_t i) { return output.is_unwritten(i); })});
}

std::optional<Explanation> explain_overwritten(const WrongOutput& output) {
  constexpr double least_unwritten = 0.2;
  const double unwritten = share_of(output.wrong(), [&](std::int64_t i) { return output.is_unwritten(i); });
  if (unwritten < least_unwritten) return std::nullopt;
  std::int64_t stride = output.numel();
  for (const std::int64_t size : output.shape()) {
    stride /= size;
    const auto is_of_another = [&](std::int64_t i) {
      const std::int64_t first = i - i / stride % size * stride;
      for (std::int64_t k = 0; k < size; ++k) {
        if (output.explains(i, output.expected(first + k * stride))) return true;
      }
      return output.is_unwritten(i);
    };
    constexpr std::int64_t most_indices = 16;  // with more values, one of them would match by chance
    const double share = size < 2 || size > most_indices ? 0 : share_of(output.wrong(), is_of_another);
    if (share >= least_share) {
      return Explanation{
          ErrorKind::Unwritten,
          "nothing stores most of these elements; the others hold what is expected of another index of their "
          "dim, as if all were stored in one place",
          share};
    }
  }
  return std::nullopt;
}

std::optional<Explanation> explain_nan(const WrongOutput& output) {
  return if_enough({ErrorKind::Nan, "the answer is NaN where a number is expected",
                    share_of(output.wrong(), [&](std::int64_t i) {
                      return std::isnan(output.got(i)) && !std::isnan(output.expected(i));
                    })});
}

std::optional<Explanation> explain_sign(const WrongOutput& output) {
  const auto turned = [&](std::int64_t i) {
    // Negating an integer zero changes nothing; a float has -0.
    return output.explains(i, clamped(output, -output.expected(i)));
  };
  const double share = share_of(output.wrong(), turned);
  const bool is_all = output.wrong().size() <= 3 && !output.is_integer() && share == 1;
  if (!is_all && output.evidence_bits(share * static_cast<double>(output.wrong().size()), 1) < least_bits) {
    const auto is_zero = [&](std::int64_t i) { return output.got(i) == 0 && output.expected(i) == 0; };
    if (share_of(output.wrong(), is_zero) < least_share) return std::nullopt;
  }
  return if_enough({ErrorKind::Sign, "the answer is the expected one with the opposite sign", share});
}

std::optional<Explanation> explain_clamp(const WrongOutput& output) {
  if (output.wrong().size() < 3) return std::nullopt;
  const Range range = expected_range(output);
  if (!(range.low < range.high)) return std::nullopt;
  if (const auto missed = missed_end(output, range)) return missed;
  return early_end(output, range);
}

std::optional<Explanation> explain_difference(const WrongOutput& output) {
  const std::vector<std::int64_t> inside = inside_range(output, output.wrong());
  const double difference =
      median_over(inside, [&](std::int64_t i) { return output.got(i) - output.expected(i); });
  if (!std::isfinite(difference) || difference == 0) return std::nullopt;
  const auto right_inside = static_cast<double>(inside_range(output, output.right()).size());
  if (right_inside > static_cast<double>(inside.size()) / 10) return std::nullopt;
  // Bytes that are not clamped wrap around.
  const auto differs_so = [&](std::int64_t i) {
    const double moved = output.expected(i) + difference;
    return output.explains(i, clamped(output, moved)) || output.explains(i, wrapped(output, moved));
  };
  const double share = share_of(output.wrong(), differs_so);
  if (output.evidence_bits(share * static_cast<double>(output.wrong().size()), 256) < least_bits)
    return std::nullopt;
  return if_enough({ErrorKind::ZeroPoint,
                    "the answer is the expected one " + std::string(difference < 0 ? "- " : "+ ") +
                        significant(std::fabs(difference), 9) + " everywhere",
                    share});
}

std::optional<Explanation> explain_ratio(const WrongOutput& output) {
  if (output.is_integer()) return std::nullopt;  // only the op's data show where their zero is
  const double ratio =
      median_over(output.wrong(), [&](std::int64_t i) { return output.got(i) / output.expected(i); });
  if (!std::isfinite(ratio) || ratio == 0 || ratio == 1) return std::nullopt;
  const double share = output.share_explained([&](std::int64_t i) { return output.expected(i) * ratio; });
  if (output.evidence_bits(share * static_cast<double>(output.wrong().size()), 256) < least_bits)
    return std::nullopt;
  return if_enough(
      {ErrorKind::Scale, "the answer is the expected one times " + significant(ratio, 6), share});
}

std::optional<Explanation> explain_rounding(const WrongOutput& output,
                                            const std::function<double(std::int64_t)>& zero_of) {
  constexpr std::size_t fewest = 3;
  if (!output.is_integer() || output.wrong().size() < fewest) return std::nullopt;
  // Elements at the ends of the range are right however they are rounded.
  const auto right_inside = static_cast<double>(inside_range(output, output.right()).size());
  if (right_inside < static_cast<double>(output.wrong().size()) / 10) return std::nullopt;
  std::optional<Explanation> best;
  for (const Direction& direction : directions(output, zero_of)) {
    const double share = share_of(output.wrong(), [&](std::int64_t i) {
      return direction.fits(i, output.got(i) - output.expected(i));
    });
    if (share < least_share || (best && share < best->share)) continue;
    best = Explanation{ErrorKind::Rounding, std::string("integers are ") + direction.text, share};
  }
  return best;
}

}  // namespace assay
