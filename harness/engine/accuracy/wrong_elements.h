#pragma once

#include "harness/engine/accuracy/acceptance.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/report/record/record.h"
#include "harness/tensor/shape.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace assay {

/// A wrong output, and everything found out about it so far.
struct WrongElements {
  const Case& test_case;
  const DataSet& data;
  std::size_t output = 0;  ///< index among the op's outputs
  std::size_t tensor = 0;  ///< index among the op's tensors
  const Acceptance& accepted;
  const HostTensor& got;
  const OutputCheck& check;
  std::function<bool(std::int64_t)> is_unwritten;  ///< empty: everything was written
  /// Whether it differs between the runs, so that its value says nothing about the error.
  std::function<bool(std::int64_t)> is_unstable;
};

/// Adds the first and the worst wrong element, the input elements they were made from, and the diagnosis to
/// the result. Its cost is bounded: it samples when many elements are wrong.
void add_evidence(const WrongElements& wrong, AccuracyResult& result);

/// A small text picture of where errors are: the last dim runs across (at most 64 tiles), all others down (at
/// most 16). Each tile is one character: '.' no error, '1'-'9' that many tenths of its elements are wrong (at
/// least one tenth is shown), '#' all are wrong. The first line gives the size of a tile and explains the
/// characters.
std::string tile_map(const Shape& shape, const std::function<bool(std::int64_t)>& is_bad);

}  // namespace assay
