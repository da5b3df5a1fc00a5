#pragma once

#include "harness/core/expected.h"
#include "harness/core/form.h"
#include "harness/core/op.h"

#include <optional>
#include <span>
#include <string>

namespace assay {

/// A trivial answer that the judge would accept for this output, so that a pass proves nothing (MISTRUSTED):
/// "all_zeros", "constant", "copied_input" or "shifted"; nothing when the output could have failed. What the
/// op declares right by formula (TensorSpec::constant_because, copy_because) does not count. An output of one
/// element cannot be told from a constant or a shift: only the other two answers are tried on it.
std::optional<std::string> trivial_answer(const TensorSpec& spec, const Expected& expected,
                                          std::span<const HostTensor> inputs, double scale = 1);

/// The same for a kernel that copies an input's memory, byte by byte, into the output: true when that would
/// be accepted.
bool accepts_copied_memory(const Expected& expected, const Physical& output, const HostTensor& input,
                           const Physical& input_physical, double scale = 1);

}  // namespace assay
