#pragma once

#include "harness/engine/accuracy/acceptance.h"
#include "harness/op/op.h"
#include "harness/tensor/form.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace assay {

/// A trivial answer that the judge would accept for this output, so that a pass proves nothing (MISTRUSTED):
/// "all_zeros", "constant", "copied_input" or "shifted"; nothing when the output could have failed. What the
/// op declares right by formula (TensorSpec::constant_because, copy_because) does not count. An output of one
/// element cannot be told from a constant or a shift: only the other two answers are tried on it.
std::optional<std::string> trivial_answer(const TensorSpec& spec, const Acceptance& acceptance,
                                          std::span<const HostTensor> inputs);

/// The same for a kernel that copies memory of as many bytes, byte by byte, into the output, where its form
/// is `output`: true when that would be accepted. `memory`: an input's, padding included.
bool accepts_copied_memory(const Acceptance& acceptance, const Physical& output,
                           std::span<const std::byte> memory);

}  // namespace assay
