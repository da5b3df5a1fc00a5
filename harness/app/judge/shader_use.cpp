#include "harness/app/judge/shader_use.h"

#include "harness/cases/conv2d_alias.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_program.h"

#include <algorithm>
#include <array>

namespace assay::app {

ShaderUse::ShaderUse(const Submission& submission, const DeviceInfo& device)
    : device_(device), library_({.directories = {submission.folder}, .cache_directory = {}}) {}

bool ShaderUse::is_made_of_it(const std::string& shader) {
  const auto [place, is_new] = known_.try_emplace(shader, false);
  if (is_new) place->second = !library_.overrides(std::array{shader}).used.empty();
  return place->second;
}

bool ShaderUse::matters_for(const Case& test_case) {
  const std::array<const Case*, 1> alone{&test_case};
  const DeviceCases here(alone, device_);
  const std::array groups{PlannedGroup{{.test_case = here.all().front()}}};
  return std::ranges::any_of(shaders_of(groups, device_),
                             [this](const std::string& shader) { return is_made_of_it(shader); });
}

}  // namespace assay::app
