#pragma once

#include "harness/core/pack.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Something a run did to memory that it must not do.
struct Trespass {
  std::string metric;  ///< "write_out_of_bounds" or "input_modified"
  std::string reason;  ///< a sentence: which tensor, where, how many bytes
};

/// What lies around the data of one allocation: `before` starts it, `after` begins `end` bytes behind its
/// start.
struct Guards {
  std::span<const std::byte> before, after;
  std::uint64_t end = 0;
};

/// Says of each guard whether and where it is not `poison` any more.
void check_guards(const std::string& name, const Guards& guards, Poison poison, std::vector<Trespass>& found);

}  // namespace assay
