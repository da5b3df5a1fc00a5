#pragma once

#include "harness/cases/case.h"

#include <string>
#include <vector>

namespace assay::test {

/// The accuracy rows of cases/<op>.yaml that no impl's constraint excludes; those of `auto`, which builds
/// nothing itself, are left out. A test fails where the file has errors.
std::vector<Case> accuracy_cases_of(const Registry& ops, const Op& op);

/// All ops of the tree, in the registry's order.
std::vector<std::string> names_of_ops();

}  // namespace assay::test
