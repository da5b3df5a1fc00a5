#pragma once

#include "harness/cases/case.h"

#include <cstdint>

namespace assay::app {

/// The number of elements in all tensors of the case.
std::int64_t elements_of(const Case& test_case);

/// The number of operations that the case needs at least (Work).
std::int64_t operations_of(const Case& test_case);

}  // namespace assay::app
