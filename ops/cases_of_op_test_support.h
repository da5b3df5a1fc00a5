#pragma once

#include "harness/cases/case.h"

#include <string>
#include <vector>

namespace assay::test {

/// The accuracy rows of cases/<op>.yaml that no impl's constraint invalid_reason, without the rows of `auto`,
/// which builds no program itself. A test fails where the file has errors.
std::vector<Case> accuracy_cases_of(const Registry& ops, const Op& op);

/// The names of all ops of the tree, in the registry's order.
std::vector<std::string> names_of_ops();

}  // namespace assay::test
