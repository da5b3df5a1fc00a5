#pragma once

#include "harness/op/op.h"

namespace assay::ops {

/// All ops of the binary, by name. CMake generates the definition from the files in this folder: x.cpp
/// defines `Op assay::ops::x()`.
Registry registry();

}  // namespace assay::ops
