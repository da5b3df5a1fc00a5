#pragma once

#include "harness/base/shared.h"
#include "harness/cases/case.h"
#include "harness/op/op.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/npy/array_file.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace assay::cases {

/// What the loader needs to know about an array in a file.
struct NpyInfo {
  std::string error;  ///< why the array cannot be used; empty: it can
  DType dtype = DType::F32;
  Shape shape;
  std::string hash;  ///< of dtype, shape and values
  bool finite = true;
  bool has_nan = false;
  bool whole = true;  ///< all values are integers
  double lowest = 0;
  double lowest_finite = 0;  ///< of those below 0
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

/// Returns why a constant cannot be the values of a float tensor, or nothing: it is beyond the largest value
/// of the dtype, or a scale is below its smallest.
std::optional<std::string> outside_dtype(const TensorSpec& tensor, double constant);

/// Stores equal values once and shares them. `Hash` hashes a T.
template <class T, class Hash>
class Interned {
 public:
  Shared<T> of(T value) {
    const auto known = known_.find(value);
    return known != known_.end() ? *known : *known_.insert(Shared<T>(std::move(value))).first;
  }

 private:
  // Shared values are hashed and compared by what they hold.
  struct HashOfValue {
    using is_transparent = void;
    std::size_t operator()(const T& value) const { return Hash()(value); }
  };
  struct EqualValues {
    using is_transparent = void;
    bool operator()(const T& a, const T& b) const { return a == b; }
  };

  std::unordered_set<Shared<T>, HashOfValue, EqualValues> known_;
};

/// The part of a point that does not depend on its forms, impl, tuning, tolerance and model.
struct PointData {
  Shared<Params> params;
  Shared<std::vector<TensorSpec>> tensors;
  Shared<std::map<std::string, FillSpec>> fills;
  Shared<std::map<std::string, ArrayFile>> expected_files;
  std::uint64_t data_key = 0;
};

/// Returns whether settings of that key may change a point's data.
bool is_data_key(std::string_view key);

/// Appends the segments with which every id ends: the forms that are not hidden, and the impl.
void append_forms_and_impl(const Case& point, std::string& id);

/// Computes Case::data_key; `hash_of` gives the hash of an array's values.
std::uint64_t data_key(const Case& point, const std::function<std::string(const ArrayFile&)>& hash_of);

struct HashOfTensors {
  std::size_t operator()(const std::vector<TensorSpec>& tensors) const;
};
struct HashOfFills {
  std::size_t operator()(const std::map<std::string, FillSpec>& fills) const;
};

/// Parts of data that points with different data share: most tensors differ only in their shape, and fills
/// hardly differ.
struct CommonData {
  Interned<std::vector<TensorSpec>, HashOfTensors> tensors;
  Interned<std::map<std::string, FillSpec>, HashOfFills> fills;
};

}  // namespace assay::cases
