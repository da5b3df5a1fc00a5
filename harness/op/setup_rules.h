#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Scratch that setup dispatches bind, each once, in order: what they leave in it is as constant as weights.
std::vector<Resource> setup_scratch(const Program& program);

/// Why the program's set-up does more than set up, or nothing. Setup dispatches run once and are not timed,
/// so that what they do must be the same for every run: they bind inputs that the op declares
/// `TensorSpec::constant`, and scratch that no dispatch of another role binds before them. Whether the
/// dispatches behind them leave that scratch alone is in their shaders: gpu::Executable looks there.
std::optional<std::string> broken_setup_rule(const Program& program, std::span<const TensorSpec> tensors);

}  // namespace assay
