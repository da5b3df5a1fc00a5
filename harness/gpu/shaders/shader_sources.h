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
  bool is_embedded = false;
};

/// Whether a name stays below the folder that it counts from, wherever that is: an include may name no other
/// file of the machine.
bool stays_inside(const std::string& name);

/// Finds GLSL files by name: in the override directories first, in order, then among the embedded ones.
class ShaderSources {
 public:
  ShaderSources(std::vector<std::filesystem::path> directories, std::span<const EmbeddedSource> embedded);

  /// Nothing for a name that leads out of the directories. Throws Error for a file that cannot be read, or is
  /// larger than any shader.
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
