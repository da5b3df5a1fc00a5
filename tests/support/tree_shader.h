#pragma once

#include "tests/support/temporary_folder.h"

#include <filesystem>
#include <stdexcept>
#include <string>

namespace assay::test {

/// The text of a shader of the source tree: of a kernel by its file name ("q8ta_add.comp"), of any shader by
/// its path below shaders/.
inline std::string tree_shader(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(ASSAY_SOURCE_DIR) / "shaders";
  if (fs::is_regular_file(root / name)) return read_file(root / name);
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() == name) return read_file(entry.path());
  }
  throw std::runtime_error("there is no shader '" + name + "' in '" + root.string() + "'");
}

}  // namespace assay::test
