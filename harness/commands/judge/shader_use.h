#pragma once

#include "harness/cases/case.h"
#include "harness/commands/judge/submission.h"
#include "harness/device/device_info.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::app {

/// The source without comments, blank lines and spaces at the ends of lines. Equal results compile to the
/// same code. Lines with `"` (includes), and sources with `__LINE__`, stay as they are.
std::string without_comments(std::string_view source);

/// Decides which cases a submission matters for on a device.
class ShaderUse {
 public:
  /// The shaders that a submission is compared with, and how untrusted ones are compiled.
  struct Parts {
    std::filesystem::path baseline{};     ///< folder; empty: the embedded shaders
    std::vector<std::string> compiler{};  ///< see gpu::ShaderOptions::compiler
  };

  /// The submission and the device must outlive this.
  ShaderUse(const Submission& submission, const DeviceInfo& device, const Parts& parts);

  /// Whether the device can run the case, and its program uses a file of the submission.
  bool uses_files(const Case& test_case);

  /// Whether it does, and the SPIR-V of one of its dispatches differs from the baseline's. Compiles both,
  /// unless the sources differ in comments alone. A shader that does not compile differs.
  bool changes(const Case& test_case);

  const DeviceInfo& device() const { return device_; }

 private:
  /// A kernel: its file, and for one from outside the folders in which it is.
  using Kernel = gpu::KernelName;
  using Variant = std::pair<Kernel, std::vector<Define>>;

  std::vector<Variant> variants_of(const Case& test_case) const;
  bool is_made_of_it(const Kernel& kernel);
  static std::vector<std::uint32_t> spirv_of(gpu::ShaderLibrary& library, const Variant& variant);
  bool differs(const Variant& variant);
  bool differs_in_code(const Kernel& kernel);

  const DeviceInfo& device_;
  gpu::ShaderLibrary library_, baseline_;
  gpu::ShaderSources sources_, baseline_sources_;
  std::map<Kernel, bool> made_of_it_;
  std::map<Kernel, bool> differ_in_code_;
  std::map<Variant, bool> differ_;
};

}  // namespace assay::app
