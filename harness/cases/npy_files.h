#pragma once

#include "harness/op/op.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/shape.h"

#include <map>
#include <optional>
#include <string>

namespace assay::cases {

/// What the loader needs to know of a .npy file.
struct NpyInfo {
  std::string error;  ///< why it cannot be used; empty: it can
  DType dtype = DType::F32;
  Shape shape;
  std::string hash;  ///< of dtype, shape and values
  bool finite = true;
  bool whole = true;  ///< all values are integers
  double lowest = 0;
  double highest = 0;
};

/// Reads each .npy file once, however many cases name it.
class NpyFiles {
 public:
  const NpyInfo& get(const std::string& path);

 private:
  std::map<std::string, NpyInfo> known_;
};

/// Why values between `lowest` and `highest` may not stand in this tensor, or nothing: a scale must be finite
/// and > 0, an integer of any role inside its range.
std::optional<std::string> outside_domain(const TensorSpec& tensor, const NpyInfo& values);

}  // namespace assay::cases
