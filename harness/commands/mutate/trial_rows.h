#pragma once

#include "harness/cases/case.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/device/device_info.h"
#include "harness/op/program.h"

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {

/// A shader with its defines, and where else it and its includes are looked for (ExternalCall::folders).
struct ShaderVariant {
  std::string shader;
  std::vector<Define> defines;
  std::vector<std::filesystem::path> folders;
  friend auto operator<=>(const ShaderVariant&, const ShaderVariant&) = default;
};

/// A row that may show faults: an accuracy row that the device can run.
struct TrialRow {
  const Case* test_case = nullptr;
  std::vector<ShaderVariant> variants;  ///< of its dispatches
  std::string traits;                   ///< specialization constants, workgroups' sizes and fills, as text
  double cost = 0;                      ///< estimate, in operations; rows with equal variants compare
};

/// The rows on a device in the order of their cases, which is the same in every process. Left out are chains,
/// whose nodes are cases of the ops themselves, and rows that are too expensive to be run for every fault.
class TrialRows {
 public:
  TrialRows(std::span<const Case* const> cases, const DeviceInfo& device);

  std::span<const TrialRow> all() const { return rows_; }
  /// A hash of the rows' ids: rows are numbered alike in processes that agree on it.
  std::string fingerprint() const;

 private:
  DeviceCases here_;
  std::vector<TrialRow> rows_;
};

}  // namespace assay::app
