#pragma once

#include "harness/cases/case.h"
#include "harness/commands/judge/judgement.h"
#include "harness/device/device_info.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::app {

/// Submitted shaders, as they are judged.
struct Submission {
  std::filesystem::path folder;        ///< copies of `files`, which are run whatever happens to the originals
  std::vector<std::string> files;      ///< shaders that differ from assay's, sorted: "q8ta_relu.comp"
  std::vector<std::string> unchanged;  ///< shaders that equal assay's
  std::vector<Finding>
      findings;      ///< files that are ignored and count against it; their names are made fit for a line
  std::string hash;  ///< SHA-256 of the names and texts of `files`
};

/// Copies the shaders of `from` to the new folder `to`: regular files *.comp and *.glslh that differ from
/// those embedded in the binary. Links are not followed, and the harness's own kernels are not replaced.
/// Files that nobody can judge (too many, too large, no regular file, a name that reports cannot show) are
/// findings, and then `files` is empty. Throws Error(Usage) if there is no shader, or none that differs, or
/// if `to` is inside `from`.
Submission take_submission(const std::filesystem::path& from, const std::filesystem::path& to);

/// The source without comments, blank lines and spaces at the ends of lines. Equal results compile to the
/// same code. Lines with `"` (includes), and sources with `__LINE__`, a backslash or a carriage return
/// without a line feed, stay as they are.
std::string without_comments(std::string_view source);

/// Ends the choice of cases where the judgement must stop.
class JudgementStopped : public std::runtime_error {
 public:
  JudgementStopped() : std::runtime_error("the judgement must stop") {}
};

/// Decides which cases a submission matters for on a device.
class ShaderUse {
 public:
  /// The shaders that a submission is compared with, and how untrusted ones are compiled.
  struct Parts {
    std::filesystem::path baseline{};     ///< folder; empty: the embedded shaders
    std::vector<std::string> compiler{};  ///< see gpu::ShaderOptions::compiler
    std::function<bool()> must_stop{};    ///< asked before each case and each compilation; empty: never
  };

  /// The submission and the device must outlive this.
  ShaderUse(const Submission& submission, const DeviceInfo& device, const Parts& parts);

  /// Throws JudgementStopped if the judgement must stop, as the functions below do.
  void stop_if_asked() const;

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
  std::function<bool()> must_stop_;
  gpu::ShaderLibrary library_, baseline_;
  gpu::ShaderSources sources_, baseline_sources_;
  std::map<Kernel, bool> made_of_it_;
  std::map<Kernel, bool> differ_in_code_;
  std::map<Variant, bool> differ_;
};

}  // namespace assay::app
