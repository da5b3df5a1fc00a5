#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::ops {

// Ops that reduce the rows of tensors along the last dim, with kernels that include
// shaders/transformer/row_reduction.glslh.

/// How the invocations of a dispatch share rows. Long rows have a workgroup each, short ones share one.
struct RowSharing {
  std::int64_t rows = 1, width = 1;
  std::int64_t columns = 1;  ///< invocations per row, a power of two
  std::int64_t local = 1;    ///< invocations per workgroup, a power of two

  /// Quads that a row touches at most. Rows of 3, 7, 11, ... values may begin in the middle of one, and touch
  /// one more than others.
  std::int64_t quads() const;
  /// Quads that an invocation reads at most.
  std::int64_t steps() const;
  /// Whether each of a dispatch's `invocations` has a row and the same number of its quads, all of which it
  /// keeps.
  bool is_complete(std::int64_t invocations) const;
};

/// How the rows of the op's first tensor are shared, as tuned or by default.
RowSharing row_sharing(const BuildContext& context);

/// The most additions to float32, one after another, between a value of a row and the row's sum.
std::int64_t additions_of_row(const BuildContext& context);

/// A dispatch of `shader` over the rows of the op's first tensor; its push constants begin with rows and
/// width, and its bindings are the op's tensors. `arrays`: its arrays of 4-byte values in shared memory, one
/// per invocation. `in_quads`: whether rows may be taken quad by quad where they are whole quads.
Dispatch row_dispatch(const BuildContext& context, std::string label, std::string shader, std::int64_t arrays,
                      bool in_quads = true);

/// Why these kernels cannot take the op's tensors, or nothing: those that can be textures must all be, or
/// none.
std::optional<std::string> rows_invalid_reason(const ImplPoint& point);

/// Why a CPU device would leave the loops over a row early (ops/common/cpu_loops.h), or nothing.
std::optional<std::string> rows_unsupported_reason(const BuildContext& context);

/// The impl `rows`, with the tunables `columns`, invocations per row, and `local_size`.
Impl rows_impl(Program (*build)(const BuildContext&),
               std::optional<std::string> (*invalid_reason)(const ImplPoint&),
               double (*unit_error)(const BuildContext&));

/// A tensor in a width-packed buffer.
TensorSpec row_tensor(std::string name, DType dtype, const Shape& shape);

/// The same tensor, also as a width-packed 3D texture.
TensorSpec or_texture(TensorSpec tensor);

}  // namespace assay::ops
