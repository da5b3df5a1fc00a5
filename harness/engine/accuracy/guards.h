#pragma once

#include "harness/tensor/pack.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Something that is wrong with what a run left behind.
struct Finding {
  std::string metric;  ///< see AccuracyResult::metric: "write_out_of_bounds", "wrong_value", ...
  std::string reason;  ///< a sentence: which tensor, where, how many bytes
};

/// What lies around the data of one allocation: `before` starts it, `after` begins `end` bytes behind its
/// start.
struct Guards {
  std::span<const std::byte> before, after;
  std::uint64_t end = 0;
};

/// Says of each guard whether and where it is not `poison` any more.
void check_guards(const std::string& name, const Guards& guards, Poison poison, std::vector<Finding>& found);

}  // namespace assay
