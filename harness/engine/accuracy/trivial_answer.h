#pragma once

#include "harness/engine/accuracy/acceptance.h"
#include "harness/op/op.h"
#include "harness/tensor/form.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace assay {

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
