#include "harness/gpu/shaders/shader_sources.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file) {
  const std::uintmax_t largest = largest_shader(file);
  std::error_code error;
  if (const std::uintmax_t size = fs::file_size(file, error); !error && size > largest) {
    throw Error(
        fmt::format("reading the shader source '{}': it has {} bytes, more than the {} that one may have",
                    file.string(), size, largest));
  }
  std::optional<std::string> text = whole_file(file);
  if (!text) {
    throw Error(fmt::format("reading the shader source '{}': {}", file.string(),
                            std::generic_category().message(errno)));
  }
  return *std::move(text);
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

/// The name in a line's #include, if it has one.
std::optional<std::string> included_by(std::string_view line) {
  constexpr std::string_view directive = "include";
  line = without_blanks(line);
  if (!line.starts_with('#')) {
    return std::nullopt;
  }
  line = without_blanks(line.substr(1));
  if (!line.starts_with(directive)) {
    return std::nullopt;
  }
  line = without_blanks(line.substr(directive.size()));
  const std::size_t end = line.find('"', 1);
  if (!line.starts_with('"') || end == std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(line.substr(1, end - 1));
}

/// The text with line feeds as its only line ends: for the compiler a carriage return alone is one, too.
std::string with_line_feeds(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("\r\n")) continue;
    made += text[at] == '\r' ? '\n' : text[at];
  }
  return made;
}

/// The text without the line feeds that a backslash continues.
std::string with_joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("\\\n")) {
      ++at;
    } else {
      joined += text[at];
    }
  }
  return joined;
}

/// The text as a preprocessor's directives see it: continued lines are joined, comments are blanks, line ends
/// are line feeds, and a byte order mark is dropped. Line ends of comments stay, so that nothing that follows
/// them joins a line.
std::string without_comments(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  const std::string joined = with_joined_lines(with_line_feeds(text));
  std::string plain;
  plain.reserve(joined.size());
  for (std::size_t at = 0; at < joined.size();) {
    const std::string_view rest = std::string_view(joined).substr(at);
    if (rest.starts_with("//")) {
      at = std::min(joined.find('\n', at), joined.size());
    } else if (rest.starts_with("/*")) {
      at = std::min(joined.find("*/", at + 2), joined.size() - 2) + 2;
      plain += ' ';
    } else {
      const std::size_t end = joined[at] == '"' ? joined.find_first_of("\"\n", at + 1) : at;
      const std::size_t next = std::min(end, joined.size() - 1) + 1;
      plain += rest.substr(0, next - at);
      at = next;
    }
  }
  return plain;
}

[[noreturn]] void throw_unreadable(const fs::path& place, const std::error_code& error) {
  throw Error(fmt::format("looking for shaders: '{}' cannot be read: {}", place.string(), error.message()));
}

/// The shaders below a folder. A link to nothing or to itself that has the name of a shader, and a folder
/// that cannot be read, are an Error: passing over them would run the embedded shaders instead.
std::vector<fs::path> shaders_below(const fs::path& folder) {
  std::vector<fs::path> shaders;
  std::error_code error;
  fs::path last = folder;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    last = entry->path();
    if (!is_shader(last)) continue;
    std::error_code why;
    const bool is_file = entry->is_regular_file(why);
    if (!is_file && entry->is_symlink() && !fs::exists(last, why))
      throw_unreadable(last, why ? why : std::make_error_code(std::errc::no_such_file_or_directory));
    if (is_file) shaders.push_back(last);
  }
  if (error) throw_unreadable(last, error);
  return shaders;
}

/// The file below a root; nothing if there is none.
std::optional<ShaderSource> source_at(const std::string& name, const fs::path& root,
                                      const std::string& path) {
  const fs::path file = root / path;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  return ShaderSource{.name = name, .path = path, .display = file.string(), .text = read_text(file)};
}

/// The path below a directory of a file that would be in one of the folders that a kernel from outside
/// brings: the directory stands for the first of them, the op's own.
std::string path_in_folder(const ShaderFolders& folders, std::size_t folder, const fs::path& name) {
  return (folders[folder].lexically_relative(folders[0]) / name).lexically_normal().generic_string();
}

std::optional<ShaderSource> source_in_folder(const std::string& name, const fs::path& root,
                                             const std::string& path) {
  return stays_inside(path) ? source_at(name, root, path) : std::nullopt;
}

/// Whether a name, in its normal form, is that of a kernel, which may be in any folder of a root.
bool is_kernel_name(const fs::path& name) {
  return !name.has_parent_path() && is_kernel(name);
}

/// The only one of the paths below `root` that a name stands for; nothing if there is none.
std::optional<std::string> only_one(const fs::path& root, const fs::path& name,
                                    std::vector<std::string> paths) {
  if (paths.empty()) return std::nullopt;
  if (paths.size() == 1) return std::move(paths.front());
  std::ranges::sort(paths);
  throw Error(fmt::format(
      "looking for the kernel '{}': '{}' and '{}' have the same file name, by which a kernel is found in all "
      "folders of '{}'; remove or rename one of them",
      name.string(), (root / paths[0]).string(), (root / paths[1]).string(), root.string()));
}

}  // namespace

std::vector<std::string> included_names(std::string_view source) {
  std::vector<std::string> names;
  const std::string plain = without_comments(source);
  std::string_view text = plain;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto name = included_by(text.substr(0, end))) {
      names.push_back(std::move(*name));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

ShaderSources::ShaderSources(std::vector<fs::path> directories, std::span<const EmbeddedSource> embedded)
    : directories_(std::move(directories)), embedded_(embedded) {
  for (const fs::path& directory : directories_) {
    std::error_code ignored;
    if (!fs::is_directory(directory, ignored)) {
      throw Error(fmt::format("looking for shaders in '{}': it is not a directory", directory.string()));
    }
  }
}

bool is_shader(const fs::path& file) {
  return is_kernel(file) || file.extension() == ".glslh" || file.extension() == ".glsl";
}

bool is_kernel(const fs::path& file) {
  return file.extension() == ".comp" || file.extension() == ".spv";
}

std::uintmax_t largest_shader(const fs::path& file) {
  constexpr std::uintmax_t source = std::uintmax_t{4} << 20, module = std::uintmax_t{16} << 20;
  return file.extension() == ".spv" ? module : source;
}

bool stays_inside(const std::string& name) {
  const fs::path path = fs::path(name).lexically_normal();
  return path.is_relative() && !path.empty() && *path.begin() != "..";
}

std::string path_in_tree(const std::string& name) {
  const std::optional<ShaderSource> source = ShaderSources({}, embedded_shaders()).find(name);
  return source ? source->display : "shaders/" + name;
}

const ShaderSources::Kernels& ShaderSources::kernels_of(std::size_t directory) const {
  std::call_once(searched_, [this] {
    std::vector<Kernels> found;
    for (const fs::path& root : directories_) {
      Kernels& kernels = found.emplace_back();
      for (const fs::path& file : shaders_below(root))
        kernels.emplace(file.filename(), file.lexically_relative(root).generic_string());
    }
    kernels_ = std::move(found);
  });
  return kernels_[directory];
}

/// The path below a directory of what has this name, whether or not it exists; nothing for a kernel that it
/// does not have.
std::optional<std::string> ShaderSources::path_in_directory(std::size_t directory,
                                                            const fs::path& name) const {
  if (!is_kernel_name(name)) return name.generic_string();
  const auto [first, last] = kernels_of(directory).equal_range(name.string());
  std::vector<std::string> paths;
  for (auto kernel = first; kernel != last; ++kernel) paths.push_back(kernel->second);
  return only_one(directories_[directory], name, std::move(paths));
}

std::optional<ShaderSource> ShaderSources::embedded(const std::string& name) const {
  const fs::path wanted = fs::path(name).lexically_normal();
  const bool is_by_file_name = is_kernel_name(wanted);
  std::vector<std::string> paths;
  for (const EmbeddedSource& source : embedded_) {
    const fs::path path = source.name;
    if (path == wanted || (is_by_file_name && path.filename() == wanted)) paths.emplace_back(source.name);
  }
  const std::optional<std::string> path = only_one("shaders", wanted, std::move(paths));
  if (!path) return std::nullopt;
  return ShaderSource{.name = name,
                      .path = *path,
                      .display = "shaders/" + *path,
                      .text = std::string(std::ranges::find(embedded_, *path, &EmbeddedSource::name)->text),
                      .is_embedded = true};
}

std::optional<ShaderSource> ShaderSources::find(const std::string& name, const ShaderFolders& folders) const {
  if (!stays_inside(name)) {
    return std::nullopt;
  }
  const fs::path wanted = fs::path(name).lexically_normal();  // it may pass through folders that do not exist
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    const std::optional<std::string> path = path_in_directory(i, wanted);
    auto source = path ? source_at(name, directories_[i], *path) : std::nullopt;
    for (std::size_t k = 1; k < folders.size() && !source; ++k)
      source = source_in_folder(name, directories_[i], path_in_folder(folders, k, wanted));
    if (!source) continue;
    source->is_override = true;
    return source;
  }
  for (const fs::path& folder : folders) {
    if (auto source = source_at(name, folder, wanted.generic_string())) return source;
  }
  return embedded(name);
}

std::map<std::string, ShaderSource> ShaderSources::closure(const std::string& name,
                                                           const ShaderFolders& folders) const {
  std::map<std::string, ShaderSource> found;
  std::vector<std::string> open{name};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    if (found.contains(next)) {
      continue;
    }
    if (auto source = find(next, folders)) {
      std::vector<std::string> included;
      if (!source->is_module()) included = included_names(source->text);
      open.insert(open.end(), included.begin(), included.end());
      found.emplace(next, std::move(*source));
    }
  }
  return found;
}

std::set<std::string> ShaderSources::names() const {
  std::set<std::string> names = names_in_directories();
  for (const EmbeddedSource& source : embedded_) {
    names.emplace(source.name);
  }
  return names;
}

std::set<std::string> ShaderSources::names_in_directories() const {
  std::set<std::string> names;
  for (const fs::path& directory : directories_) {
    for (const fs::path& file : shaders_below(directory))
      names.insert(file.lexically_relative(directory).generic_string());
  }
  return names;
}

std::string ShaderSources::places(const ShaderFolders& folders) const {
  std::string text;
  for (const auto* all : {&directories_, &folders}) {
    for (const fs::path& directory : *all) text += fmt::format("'{}' and ", directory.string());
  }
  return text + "the embedded sources";
}

}  // namespace assay::gpu
