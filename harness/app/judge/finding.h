#pragma once

#include <string>

namespace assay::app {

/// Evidence against a submission, or a reason why it could not be judged in full.
struct Finding {
  std::string word;  ///< stable, for programs: "reads_output" (docs/judge.md lists them)
  std::string text;  ///< a sentence for people
  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace assay::app
