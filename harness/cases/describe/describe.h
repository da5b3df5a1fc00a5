#pragma once

#include "harness/cases/case.h"
#include "harness/cases/describe/op_files.h"
#include "harness/op/op.h"

#include <iosfwd>
#include <span>
#include <string>

namespace assay {

/// Prints `assay list`: one id per line. `details` adds mode, tier, file:line, model and layer, and the
/// layout of CONV2D.
void list_cases(std::span<const Case* const> cases, bool details, std::ostream& out);

/// Returns `assay ops`: one op per line, with its summary.
std::string list_ops(const Registry& registry);

/// Returns `assay ops NAME`: parameters with type, range, default and meaning; impls with needs and tunables.
/// An op's tensors depend on its parameters, so they are shown for `example`, a case of this op, if there is
/// one.
std::string describe_op(const Op& op, const Case* example = nullptr);

/// Returns the part of `assay ops NAME` about the op's files, one per line. `includes` are the files of
/// shaders/ that its shaders include.
std::string describe_files(const OpFiles& files, std::span<const std::string> includes);

/// Returns `assay schema`: a JSON Schema (draft 2020-12) of case files, for completion and checks in editors.
std::string schema_json(const Registry& registry);

}  // namespace assay
