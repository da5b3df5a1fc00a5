#pragma once

#include "tests/support/process.h"

#include <string>
#include <utility>
#include <vector>

namespace assay::test {

/// Runs the binary under test, which the test's target names as ASSAY_BINARY, with these arguments.
inline ProcessResult assay(std::vector<std::string> arguments,
                           std::vector<std::pair<std::string, std::string>> environment = {}) {
  arguments.insert(arguments.begin(), ASSAY_BINARY);
  return run({.words = std::move(arguments), .environment = std::move(environment)});
}

}  // namespace assay::test
