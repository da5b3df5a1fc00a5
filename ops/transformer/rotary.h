#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/transformer/rotary_embedding.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>

namespace assay::ops {

// What the ops that turn pairs have in common: shaders/transformer/rotary_embedding.comp.

inline constexpr Form rotary_form{Storage::Buffer, Layout::WP};

/// The table `cos` or `sin`.
TensorSpec rotary_table(std::string name, const references::RotaryEmbedding& op);

/// The rows of x, and what turns them: of the tables only the rows of the tokens' positions are read. As many
/// bytes are written as x has.
Work rotary_work(const references::RotaryEmbedding& op, const TensorSpec& x);

struct RotaryDispatch {
  std::string label;
  std::int64_t words = 0;                   ///< invocations where pairs, rows and heads are no whole quads
  std::int64_t values = 0;                  ///< of x
  std::array<std::uint32_t, 4> bindings{};  ///< the tensors x, cos, sin and y
};

/// The dispatch, to whose defines and push constants an op adds its own.
Dispatch rotary_dispatch(const BuildContext& context, const references::RotaryEmbedding& op,
                         const RotaryDispatch& of);

/// Whether heads in a buffer are whole quads, and what turns is: a quad of a's, one of b's and one of each
/// table, or, of interleaved pairs, two pairs and two entries of each table.
bool turns_in_quads(const references::RotaryEmbedding& op);

/// The error of a value that turned, per magnitude: the rounding of a product, and of the sum or difference.
double turned_value_error(const BuildContext& context);

/// The parameter `pairs`.
ParamSpec rotary_pairs_param();

/// The impl that makes this dispatch.
Impl rotary_impl(std::function<Program(const BuildContext&)> build);

}  // namespace assay::ops
