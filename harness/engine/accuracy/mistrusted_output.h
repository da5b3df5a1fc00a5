#pragma once

#include "harness/engine/accuracy/output_check.h"
#include "harness/op/op.h"
#include "harness/tensor/form.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace assay {

/// How many elements of an integer output are at the ends of its range. Larger values were clamped there, so
/// a wrong sum may pass as well as the right one.
struct Saturation {
  double share = 0;  ///< of the elements, 0 to 1
  double low = 0, high = 0;
};

/// The share of saturated elements above which an output proves too little (MISTRUSTED). The fill `saturate`
/// puts half of the elements at the ends, and so does a relu of symmetric data whose zero is the low end;
/// both together give three quarters.
inline constexpr double most_saturated = 0.85;

/// The saturation of expected values if it is above `most_saturated`, else nothing. The range is the one that
/// the op declares for the output (TensorSpec::domain), else that of the dtype (I8 and U8 only). Outputs that
/// are constant or at the ends by formula (TensorSpec::constant_because, ends_because) do not count, nor do
/// outputs with few elements or a range of few integers, which may be at its ends by chance.
std::optional<Saturation> too_saturated(const TensorSpec& spec, const HostTensor& expected);

/// A trivial answer that would be accepted for this output, so that a pass proves nothing (MISTRUSTED):
/// "all_zeros", "constant", "copied_input" or "shifted"; nothing when the output could have failed. Answers
/// that the op declares right by formula (TensorSpec::constant_because, copy_because) do not count. For an
/// output of one element only "all_zeros" and "copied_input" are tried: it always equals a constant and its
/// own shift.
std::optional<std::string> trivial_answer(const TensorSpec& spec, const Acceptance& acceptance,
                                          std::span<const HostTensor> inputs);

/// Whether an output in the form `output` would be accepted if a kernel filled it with a bytewise copy of
/// `memory`, the memory of an input, padding included. False when the sizes differ.
bool accepts_copied_memory(const Acceptance& acceptance, const Physical& output,
                           std::span<const std::byte> memory);

}  // namespace assay
