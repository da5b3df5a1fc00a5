#pragma once

#include <string>

namespace assay {

/// A place in a case file; line and column count from 1.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

}  // namespace assay
