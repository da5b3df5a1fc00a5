#pragma once

#include "harness/tensor/form.h"

#include <vector>

namespace assay::ops {

/// Every form of a float tensor: buffers first, then 3D and 2D textures, each width-, height- and
/// channels-packed.
std::vector<Form> float_forms();

/// Every form of an int8x4 tensor, `first` (the default) before the others.
std::vector<Form> int8_forms(Layout first = Layout::P4W4C);

}  // namespace assay::ops
