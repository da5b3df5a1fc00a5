#pragma once

#include "harness/cases/case.h"
#include "harness/cases/op_files.h"
#include "harness/op/op.h"

#include <iosfwd>
#include <span>
#include <string>

namespace assay {

/// `assay list`: one id a line; `details` adds mode, tier, file:line, what of which model, and what CONV2D
/// stands for.
void list_cases(std::span<const Case* const> cases, bool details, std::ostream& out);

/// `assay ops`: one op a line, with its summary.
std::string list_ops(const Registry& registry);

/// `assay ops NAME`: parameters with type, range, default and meaning; impls with needs and tunables. The
/// tensors of an op depend on its parameters: they are shown for `example`, a case of this op, when there is
/// one.
std::string describe_op(const Op& op, const Case* example = nullptr);

/// What `assay ops NAME` says of the op's files, one a line; `includes`: those of shaders/ that its shaders
/// include.
std::string describe_files(const OpFiles& files, std::span<const std::string> includes);

/// `assay schema`: a JSON Schema (draft 2020-12) of case files, from which editors complete and check.
std::string schema_json(const Registry& registry);

}  // namespace assay
