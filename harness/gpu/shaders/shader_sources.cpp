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

constexpr std::uintmax_t largest_source = std::uintmax_t{4} << 20;

std::string read_text(const fs::path& file) {
  std::error_code error;
  if (const std::uintmax_t size = fs::file_size(file, error); !error && size > largest_source) {
    throw Error(
        fmt::format("reading the shader source '{}': it has {} bytes, more than the {} that one may have",
                    file.string(), size, largest_source));
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

/// The text as a preprocessor's directives see it: continued lines are joined, comments are blanks, and a
/// byte order mark is dropped. Line ends of comments stay, so that nothing that follows them joins a line.
std::string without_comments(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  std::string joined;
  joined.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool joins = text.substr(at).starts_with("\\\n") || text.substr(at).starts_with("\\\r\n");
    if (!joins) joined += text[at];
    if (joins) at = text.find('\n', at);
  }
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

bool is_shader(const fs::path& file) {
  return file.extension() == ".comp" || file.extension() == ".glslh";
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
    std::error_code error;
    if (fs::is_regular_file(file, error)) {
      return ShaderSource{.name = name, .display = file.string(), .text = read_text(file)};
    }
  }
  const std::string embedded_name = fs::path(name).lexically_normal().generic_string();
  const auto found = std::ranges::find(embedded_, embedded_name, &EmbeddedSource::name);
  if (found == embedded_.end()) {
    return std::nullopt;
  }
  return ShaderSource{.name = name,
                      .display = "shaders/" + embedded_name,
                      .text = std::string(found->text),
                      .is_embedded = true};
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
    for (const fs::path& file : shaders_below(directory))
      names.insert(file.lexically_relative(directory).generic_string());
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
