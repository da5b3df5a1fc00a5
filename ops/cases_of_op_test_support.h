#pragma once

#include "harness/cases/case.h"

#include <vector>

namespace assay::test {

/// The accuracy rows of cases/<op>.yaml that no impl's constraint excludes; those of `auto`, which builds
/// nothing itself, are left out. A test fails where the file has errors.
std::vector<Case> accuracy_cases_of(const Registry& ops, const Op& op);

}  // namespace assay::test
