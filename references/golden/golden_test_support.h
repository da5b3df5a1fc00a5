#pragma once

// Golden vectors for reference tests: references/golden/<op>.npz, which holds <vector>/manifest.json and
// <vector>/<tensor>.npy (references/golden/README.md).

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/npy/array_file.h"
#include "harness/tensor/tensor.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// One vector: its inputs, parameters and expected outputs.
struct Golden {
  std::string name;
  nlohmann::json params;
  std::shared_ptr<const NpzMembers> archive;  ///< the archive of all vectors of the op

  /// The tensor of this name. Throws Error naming the vector when it has none.
  HostTensor tensor(std::string_view name) const;
  bool has(std::string_view name) const;
};

/// All vectors of an op, sorted by name.
std::vector<Golden> golden_vectors(std::string_view op);

/// Sets the parameters of layers: bias (where the vector has the tensor), activation (none unless the vector
/// has one), and x and y, where the vector has their scales.
void set_layer(Params& params, const Golden& golden);

/// How an integer output compares with a vector that was computed with a float64 epilogue.
struct GoldenMatch {
  std::int64_t mismatches = 0;  ///< differences that nothing explains
  std::int64_t flips = 0;       ///< off by one where the unrounded value lies within 1e-5 of a tie
};

/// `pre` holds the unrounded values, f64; without it every difference is a mismatch.
GoldenMatch compare(const HostTensor& got, const HostTensor& want, const HostTensor* pre);

}  // namespace assay::test
