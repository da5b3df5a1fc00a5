#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// A shader source that is part of the binary (cmake/embed_shaders.cmake).
struct EmbeddedSource {
  std::string_view name;  ///< path below shaders/: "relayout/copy.comp", "common/indexing.glslh"
  std::string_view text;
};

/// Everything in shaders/, sorted by name.
std::span<const EmbeddedSource> embedded_shaders();

/// One GLSL file, or a SPIR-V module.
struct ShaderSource {
  std::string name;     ///< as it was asked for: "copy.comp", "common/indexing.glslh"
  std::string path;     ///< below its root: "relayout/copy.comp"
  std::string display;  ///< its name in messages: "shaders/common/indexing.glslh" or the override's path
  std::string text;     ///< of a module: its bytes
  bool is_embedded = false;
  bool is_override = false;  ///< it is in an override directory

  bool is_module() const { return name.ends_with(".spv"); }
};

/// Whether a file is one of GLSL or a SPIR-V module by its name: *.comp, *.glslh, *.glsl, *.spv.
bool is_shader(const std::filesystem::path& file);

/// Whether it is a kernel's (*.comp, *.spv), which is found in whatever folder of a root it is.
bool is_kernel(const std::filesystem::path& file);

/// The most bytes that such a file may have.
std::uintmax_t largest_shader(const std::filesystem::path& file);

/// Whether a relative name stays below its folder: an include must not name any other file of the machine.
bool stays_inside(const std::string& name);

/// The path of the embedded shader `name` from the root of the source tree: of "copy.comp",
/// "shaders/relayout/copy.comp". Where there is none it is taken to be in shaders/ itself.
std::string path_in_tree(const std::string& name);

/// Where a kernel from outside and its includes are looked for (ExternalCall::folders).
using ShaderFolders = std::vector<std::filesystem::path>;

/// Finds GLSL files and SPIR-V modules by name: first in the override directories, in order, then in the
/// folders that a kernel from outside brings, then among the embedded sources. These are the roots. A name
/// without folders that ends in .comp or .spv is a kernel's: the file of that name is found in whatever
/// folder of an override directory or of the embedded sources it is. Every other name is a path below the
/// root. An override directory stands for the first folder of a kernel from outside, the op's own: it also
/// has the folders for includes that lie in that one.
class ShaderSources {
 public:
  ShaderSources(std::vector<std::filesystem::path> directories, std::span<const EmbeddedSource> embedded);

  /// The source of that name; nothing when it does not exist or its name leads out of the directories. Throws
  /// Error for a file that cannot be read or is larger than any shader, and where the first root that has a
  /// kernel has two of its name. Directories are searched for kernels once. Thread-safe.
  std::optional<ShaderSource> find(const std::string& name, const ShaderFolders& folders = {}) const;
  /// `name` and everything it may include, directly or indirectly, by name. Includes that do not exist are
  /// left out: they may be in code that a define switches off, and the compiler reports those that it
  /// reaches. Empty when `name` itself does not exist.
  std::map<std::string, ShaderSource> closure(const std::string& name,
                                              const ShaderFolders& folders = {}) const;
  /// The paths of all shaders (*.comp, *.glslh, *.glsl, *.spv) below their roots, embedded or in the override
  /// directories.
  std::set<std::string> names() const;
  /// The paths of those in the override directories.
  std::set<std::string> names_in_directories() const;
  /// "directory 'a', directory 'b' and the embedded sources": where find() searches, for messages.
  std::string places(const ShaderFolders& folders = {}) const;

 private:
  /// The paths of a directory's kernels, by file name.
  using Kernels = std::multimap<std::string, std::string>;

  const Kernels& kernels_of(std::size_t directory) const;
  std::optional<std::string> path_in_directory(std::size_t directory,
                                               const std::filesystem::path& name) const;
  std::optional<ShaderSource> embedded(const std::string& name) const;

  std::vector<std::filesystem::path> directories_;
  std::span<const EmbeddedSource> embedded_;
  mutable std::once_flag searched_;
  mutable std::vector<Kernels> kernels_;  ///< of each directory
};

/// The names in the `#include "..."` lines of a source, also of lines that are continued or hold comments.
std::vector<std::string> included_names(std::string_view source);

}  // namespace assay::gpu
