#pragma once

#include "harness/cases/case.h"

#include <optional>

namespace assay::app {

/// The case at other parameters, with the tensors, forms and fills that it has there: a form that a tensor no
/// longer accepts becomes the tensor's default, and a derived parameter that `params` does not change is
/// derived anew. Nothing if the op does not accept the parameters. `id`, `data_key` and `invalid` are those
/// of the old case.
std::optional<Case> with_params(const Case& like, Params params);

/// Gives each tensor of `made` the form of the tensor of the same name in `like`, or its default.
void take_forms(const Case& like, Case& made);

}  // namespace assay::app
