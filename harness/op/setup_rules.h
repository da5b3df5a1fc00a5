#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Returns the scratch that setup dispatches bind, in order and without duplicates. What they leave in it is
/// as constant as weights.
std::vector<Resource> setup_scratch(const Program& program);

/// Returns why the program's setup does more than set up, or nothing. Setup dispatches run once and are not
/// timed, so their results must be the same for every run: they may bind inputs that the op declares
/// `TensorSpec::constant`, and scratch that no dispatch of another role binds before them. Whether later
/// dispatches leave that scratch alone depends on their shaders, which gpu::Executable checks.
std::optional<std::string> broken_setup_rule(const Program& program, std::span<const TensorSpec> tensors);

}  // namespace assay
