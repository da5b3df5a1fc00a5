#pragma once

#include "harness/cases/load.h"
#include "harness/op/op.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cases {

/// Ops with the parameters and tensors of real ones, and nothing to run.
///   q8ta_pixel_shuffle   qparams, two forms of each tensor, impls `fused` and `unfused` (no 4C1W)
///   quantize_affine      lists, choices, defaults, roles of fills, float tensors with textures
const Registry& fake_ops();

/// A folder of this test alone, removed with its files at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file, and folders on the way to it.
  std::filesystem::path write(const std::string& name, std::string_view text) const;
  /// `text` without this folder's own path: what a message says on every machine.
  std::string without_path(std::string text) const;

 private:
  std::filesystem::path path_;
};

/// Loads one text as the file `case.yaml`.
LoadResult load_text(const TempFolder& folder, std::string_view text, const LoadOptions& options = {});
LoadResult load_text(std::string_view text, const LoadOptions& options = {});

/// Loads a text that has no errors.
std::vector<Case> load_good(std::string_view text, const LoadOptions& options = {});

std::vector<std::string> ids_of(const std::vector<Case>& cases);

/// All messages, one after the other, without the folder's path.
std::string messages(const TempFolder& folder, const std::vector<Diagnostic>& errors);

/// The lines of a case file of q8ta_pixel_shuffle with one case, `extra` at its end: lines "    key: value".
std::string pixel_shuffle_case(std::string_view extra);

}  // namespace assay::cases
