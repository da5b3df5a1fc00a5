#include "harness/app/judge/submission.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_program.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 1000;
constexpr std::size_t largest_file = std::size_t{4} << 20;  // as gpu::ShaderSources

bool is_shader_name(const fs::path& path) {
  return path.extension() == ".comp" || path.extension() == ".glslh";
}

/// Whether the shader is a kernel of the harness, which is used to judge submissions.
bool is_of_harness(const std::string& name) {
  return name == "poison.comp" || name == "difference.comp" || name == "clock_probe.comp" ||
         name.starts_with("ceilings/");
}

/// The text of a regular file. Does not follow a link, even if the file is replaced by one meanwhile.
std::string text_of(const fs::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0)
    throw Error(fmt::format("reading the submission: '{}' cannot be opened", path.string()));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(fmt::format("reading the submission: '{}' is not a regular file", path.string()));
  std::string text;
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(fmt::format("reading the submission: '{}' cannot be read", path.string()));
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > largest_file) {
      throw Error(fmt::format("reading the submission: '{}' has more than {} bytes, too many for a shader",
                              path.string(), largest_file));
    }
  }
}

/// The names of all shaders below `from`; links are added to `findings`.
std::vector<std::string> names_in(const fs::path& from, std::vector<Finding>& findings) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator at(from, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().lexically_relative(from).generic_string();
    std::error_code of_entry;
    if (at->is_symlink(of_entry)) {
      if (is_shader_name(at->path()) || at->is_directory(of_entry)) {
        findings.push_back(
            {"symbolic_link",
             fmt::format("'{}' is a symbolic link: a submission must contain its files", printable(name))});
      }
    } else if (at->is_regular_file(of_entry) && is_shader_name(at->path())) {
      names.push_back(name);
    }
    if (names.size() > most_files) {
      throw Error(
          fmt::format("reading the submission: '{}' holds more than {} shaders", from.string(), most_files));
    }
  }
  if (error) {
    throw Error(
        fmt::format("reading the submission: '{}' cannot be read: {}", from.string(), error.message()));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

Submission take_submission(const fs::path& from, const fs::path& to) {
  if (!fs::is_directory(from))
    throw Error(fmt::format("reading the submission: '{}' is not a folder", from.string()));
  const gpu::ShaderSources embedded({}, gpu::embedded_shaders());
  Submission taken{.folder = to, .files = {}, .unchanged = {}, .findings = {}, .hash = {}};
  const std::vector<std::string> names = names_in(from, taken.findings);
  if (names.empty() && taken.findings.empty()) {
    throw Error(
        fmt::format("reading the submission: '{}' holds no shader (*.comp, *.glslh); their names are those "
                    "of `assay ops NAME`, relative to the folder, as below shaders/ of the source tree",
                    from.string()));
  }
  Hasher hasher;
  make_directories(to);
  for (const std::string& name : names) {
    const std::string text = text_of(from / name);
    const std::optional<gpu::ShaderSource> own = embedded.find(name);
    if (own && own->text == text) {
      taken.unchanged.push_back(name);
    } else if (is_of_harness(name)) {
      taken.findings.push_back(
          {"replaces_harness_shader",
           fmt::format("'{}' is a kernel of the harness, which is used to judge submissions; it is ignored",
                       printable(name))});
    } else {
      make_directories((to / name).parent_path());
      replace_file(to / name, text);
      hasher.feed(fmt::format("{}:{}{}:", name.size(), name, text.size()));
      hasher.feed(text);
      taken.files.push_back(name);
    }
  }
  if (taken.files.empty() && taken.findings.empty()) {
    throw Error(
        fmt::format("reading the submission: each of the {} shaders in '{}' equals assay's own: there is "
                    "nothing to judge",
                    taken.unchanged.size(), from.string()));
  }
  taken.hash = hasher.result();
  return taken;
}

ShaderUse::ShaderUse(const Submission& submission, const DeviceInfo& device)
    : device_(device), library_({.directories = {submission.folder}, .cache_directory = {}}) {}

bool ShaderUse::is_made_of_it(const std::string& shader) {
  const auto [place, is_new] = known_.try_emplace(shader, false);
  if (is_new) place->second = !library_.overrides(std::array{shader}).used.empty();
  return place->second;
}

bool ShaderUse::matters_for(const Case& test_case) {
  const std::array<const Case*, 1> alone{&test_case};
  const DeviceCases here(alone, device_);
  const std::array groups{PlannedGroup{{.test_case = here.all().front()}}};
  return std::ranges::any_of(shaders_of(groups, device_),
                             [this](const std::string& shader) { return is_made_of_it(shader); });
}

}  // namespace assay::app
