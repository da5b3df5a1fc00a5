#pragma once

#include <string>
#include <string_view>

namespace assay::test {

/// Whether a check, one of hundreds of their kind, is made in this run. `scripts/test.sh` sets
/// ASSAY_TEST_DRAW to the commit: one check in `one_in` is made then, drawn by its name and the commit, so
/// that each commit makes others. Without that variable all are made, as when a person runs an executable, or
/// ctest.
bool drawn(std::string_view check, unsigned one_in);

/// The same with a text in place of the environment's: empty makes all checks.
bool drawn_by(const std::string& draw, std::string_view check, unsigned one_in);

}  // namespace assay::test
