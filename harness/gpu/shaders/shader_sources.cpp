#include "harness/gpu/shaders/shader_sources.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_source = std::uintmax_t{4} << 20;

std::string read_text(const fs::path& file) {
  std::error_code error;
  if (const std::uintmax_t size = fs::file_size(file, error); !error && size > largest_source) {
    throw Error(
        fmt::format("reading the shader source '{}': it has {} bytes, more than the {} that one may have",
                    file.string(), size, largest_source));
  }
  std::optional<std::string> text = whole_file(file);
  if (!text) throw Error(fmt::format("reading the shader source '{}': it cannot be read", file.string()));
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

bool is_shader(const fs::path& file) {
  return file.extension() == ".comp" || file.extension() == ".glslh";
}

}  // namespace

std::vector<std::string> included_names(std::string_view text) {
  std::vector<std::string> names;
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
    if (!fs::is_directory(directory)) {
      throw Error(fmt::format("looking for shaders in '{}': it is not a directory", directory.string()));
    }
  }
}

bool stays_inside(const std::string& name) {
  const fs::path path = fs::path(name).lexically_normal();
  return path.is_relative() && !path.empty() && *path.begin() != "..";
}

std::optional<ShaderSource> ShaderSources::find(const std::string& name) const {
  if (!stays_inside(name)) {
    return std::nullopt;
  }
  for (const fs::path& directory : directories_) {
    const fs::path file =
        directory /
        fs::path(name).lexically_normal();  // a name may pass through a folder that does not exist
    if (fs::is_regular_file(file)) {
      return ShaderSource{.name = name, .display = file.string(), .text = read_text(file)};
    }
  }
  const auto found = std::find_if(embedded_.begin(), embedded_.end(),
                                  [&](const EmbeddedSource& source) { return source.name == name; });
  if (found == embedded_.end()) {
    return std::nullopt;
  }
  return ShaderSource{
      .name = name, .display = "shaders/" + name, .text = std::string(found->text), .is_embedded = true};
}

std::map<std::string, ShaderSource> ShaderSources::closure(const std::string& name) const {
  std::map<std::string, ShaderSource> found;
  std::vector<std::string> open{name};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    if (found.contains(next)) {
      continue;
    }
    if (auto source = find(next)) {
      const std::vector<std::string> included = included_names(source->text);
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
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(directory, fs::directory_options::skip_permission_denied)) {
      if (entry.is_regular_file() && is_shader(entry.path())) {
        names.insert(entry.path().lexically_relative(directory).generic_string());
      }
    }
  }
  return names;
}

std::string ShaderSources::places() const {
  std::string text;
  for (const fs::path& directory : directories_) {
    text += fmt::format("'{}' and ", directory.string());
  }
  return text + "the embedded sources";
}

}  // namespace assay::gpu
