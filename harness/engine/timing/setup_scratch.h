#pragma once

#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// What set-up left in its scratch, byte by byte, to be held against what is there after timed runs: those
/// must leave it alone. Their shaders declare that they do; this sees what they did.
class SetupScratch {
 public:
  /// `program` must outlive this.
  explicit SetupScratch(const Program& program);

  /// Keeps what `set`, whose set-up has run, holds now. All sets of a program hold the same.
  void keep(const gpu::Workspace& set);
  /// The name of the first scratch that is another one in `set` than was kept; nothing: all are the same.
  std::optional<std::string> changed_in(const gpu::Workspace& set) const;

 private:
  const Program* program_;
  std::vector<Resource> scratch_;
  std::vector<std::vector<std::byte>> kept_;  ///< one each
};

}  // namespace assay
