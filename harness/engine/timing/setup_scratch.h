#pragma once

#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A copy of the scratch that set-up wrote, which is compared with its content after timed runs. Those must
/// not change it; their shaders declare so, and this class checks it.
class SetupScratch {
 public:
  /// `program` must outlive this.
  explicit SetupScratch(const Program& program);

  /// Copies the scratch of `set`, whose set-up has run. It is equal in all sets of a program.
  void keep(const gpu::Workspace& set);
  /// The name of the first scratch that differs from the copy in `set`; nothing when none does.
  std::optional<std::string> changed_in(const gpu::Workspace& set) const;

 private:
  const Program* program_;
  std::vector<Resource> scratch_;
  std::vector<std::vector<std::byte>> kept_;  ///< one copy per scratch
};

}  // namespace assay
