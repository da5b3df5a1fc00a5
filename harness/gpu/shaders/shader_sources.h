#pragma once

#include "harness/gpu/shaders/embedded.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// One GLSL file.
struct ShaderSource {
  std::string name;     ///< below the shader root: "common/indexing.glslh"
  std::string display;  ///< what messages call it: "shaders/common/indexing.glslh" or the override's path
  std::string text;
};

/// Finds GLSL files by name: in the override directories first, in order, then among the embedded ones.
class ShaderSources {
 public:
  ShaderSources(std::vector<std::filesystem::path> directories, std::span<const EmbeddedSource> embedded);

  std::optional<ShaderSource> find(const std::string& name) const;
  /// `name` and all it may include, directly or not, by name; includes that do not exist are left out (they
  /// may stand in code that a define switches off; the compiler complains of those that it meets). Empty
  /// when `name` itself does not exist.
  std::map<std::string, ShaderSource> closure(const std::string& name) const;
  /// All *.comp and *.glslh there are.
  std::set<std::string> names() const;
  /// Those of the override directories.
  std::set<std::string> names_in_directories() const;
  /// "directory 'a', directory 'b' and the embedded sources": where find() looks.
  std::string places() const;

 private:
  std::vector<std::filesystem::path> directories_;
  std::span<const EmbeddedSource> embedded_;
};

/// The names in `#include "..."` lines.
std::vector<std::string> included_names(std::string_view text);

}  // namespace assay::gpu
