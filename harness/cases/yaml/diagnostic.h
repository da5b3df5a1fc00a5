#pragma once

#include "harness/base/source_location.h"

#include <string>

namespace assay {

/// One error in a file that a user wrote, and its place.
struct Diagnostic {
  SourceLocation where;
  std::string message;
  std::string source_line;  ///< text of the line; the caret points to `where.column`
  std::string suggestion;   ///< the nearest known name, or empty
};

/// Returns several lines, without a newline at the end:
///
///     cases/x.yaml:7:5: error: unknown key 'shpae'
///         shpae: [1, 16, 4, 4]
///         ^
///     did you mean 'shape'?
///
/// Tabs of the source line are kept and repeated before the caret. Line 0 stands for the whole file, without
/// line number and source line.
std::string to_string(const Diagnostic& diagnostic);

}  // namespace assay
