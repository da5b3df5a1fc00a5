#pragma once

#include "harness/op/op.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/npy/array_file.h"
#include "harness/tensor/shape.h"

#include <map>
#include <optional>
#include <string>

namespace assay::cases {

/// What the loader needs to know about an array in a file.
struct NpyInfo {
  std::string error;  ///< why the array cannot be used; empty: it can
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

  /// Returns why the array cannot be the values of `tensor`, as far as the header says: a file may be larger
  /// than memory. Returns nothing if it fits, was read before, or is unreadable, which get() reports.
  std::optional<std::string> misfit_by_outline(const ArrayFile& file, const TensorSpec& tensor) const;

  /// Returns why the array cannot be the values of `tensor` (fit_array()), or nothing. An array with the
  /// tensor's dtype and shape is not read again.
  std::optional<std::string> misfit(const ArrayFile& file, const TensorSpec& tensor);

  /// Returns the hash of each array that was read, by "FILE" or "FILE[MEMBER]" as to_string() writes it.
  std::map<std::string, std::string> hashes() const;

 private:
  std::map<ArrayFile, NpyInfo> known_;
  /// Results for arrays that must be converted, by file and the properties of the tensor that matter.
  std::map<std::string, std::optional<std::string>> misfits_;
};

/// Returns why values between `lowest` and `highest` are not allowed in this tensor, or nothing: a scale must
/// be finite and > 0, an integer must be in its range.
std::optional<std::string> outside_domain(const TensorSpec& tensor, const NpyInfo& values);

}  // namespace assay::cases
