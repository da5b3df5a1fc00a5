#pragma once

#include "harness/op/op.h"
#include "harness/tensor/array_file.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/shape.h"

#include <map>
#include <optional>
#include <string>

namespace assay::cases {

/// What the loader needs to know of an array in a file.
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

/// Reads each array once, however many cases name it.
class NpyFiles {
 public:
  const NpyInfo& get(const ArrayFile& file);

  /// Why the array cannot be the values of `tensor`, as far as it can be told without reading its data: a
  /// file may be larger than memory. Nothing where it can, was read before, or cannot be read at all: get()
  /// says that.
  std::optional<std::string> misfit_by_outline(const ArrayFile& file, const TensorSpec& tensor) const;

  /// Why the array cannot be the values of `tensor` (fit_array()), or nothing. One that has the tensor's
  /// dtype is not read again for it.
  std::optional<std::string> misfit(const ArrayFile& file, const TensorSpec& tensor);

  /// The hash of each array that was read, by "FILE" or "FILE[MEMBER]", as to_string() has it.
  std::map<std::string, std::string> hashes() const;

 private:
  std::map<ArrayFile, NpyInfo> known_;
  /// Of arrays that must be converted, by what for: dtype, shape and whether float64 may stay.
  std::map<std::string, std::optional<std::string>> misfits_;
};

/// Why values between `lowest` and `highest` may not stand in this tensor, or nothing: a scale must be finite
/// and > 0, an integer of any role inside its range.
std::optional<std::string> outside_domain(const TensorSpec& tensor, const NpyInfo& values);

}  // namespace assay::cases
