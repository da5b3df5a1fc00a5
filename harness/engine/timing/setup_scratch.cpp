#include "harness/engine/timing/setup_scratch.h"

#include "harness/base/parallel.h"
#include "harness/op/setup_rules.h"

namespace assay {

SetupScratch::SetupScratch(const Program& program) : program_(&program), scratch_(setup_scratch(program)) {}

void SetupScratch::keep(const gpu::Workspace& set) {
  kept_.clear();
  for (const Resource scratch : scratch_) kept_.push_back(set.read(scratch));
}

std::optional<std::string> SetupScratch::changed_in(const gpu::Workspace& set) const {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (!equal_bytes(kept_[i], set.read(scratch_[i]))) return program_->scratch[scratch_[i].index].name;
  }
  return std::nullopt;
}

}  // namespace assay
