#pragma once

#include "harness/cases/case.h"

#include <string>

namespace assay::app {

/// Whether case_yaml() can say all of the case: none of its data comes from files.
bool is_writable(const Case& one);

/// The case under another name as an entry of the list `cases:` of a file: its parameters, impl, forms,
/// fills, tunables, timeout and, if it is timed, mode and cache. Parameters with their derived values are
/// left out. Data from files, the tolerance and the seed are not written. Ends in a newline.
std::string case_yaml(const Case& one, const std::string& name);

/// A whole case file with this case alone, as short as possible: defaults are left out, and the settings are
/// written one after the other, in lines of at most 100 columns where they fit.
std::string short_case_file(const Case& one, const std::string& name);

}  // namespace assay::app
