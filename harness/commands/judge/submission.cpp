#include "harness/commands/judge/submission.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/engine/run/row_plan.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 1000;
/// Words of findings about files that nobody can judge.
constexpr std::array<std::string_view, 5> unfit{"unreadable_file", "too_large", "too_many_files", "bad_name",
                                                "same_name"};

/// assay's own shader in the place of the submission's file `name`: a kernel is found by its file name in any
/// folder.
std::optional<gpu::ShaderSource> own_shader(const gpu::ShaderSources& embedded, const std::string& name) {
  const fs::path path = name;
  return embedded.find(gpu::is_kernel(path) ? path.filename().string() : name);
}

/// Whether a file of the submission replaces a shader of the harness, which is used to judge submissions:
/// kernels of shaders/harness/ by their file names, those of shaders/ceilings/ by their paths.
bool is_of_harness(const std::string& name, const std::optional<gpu::ShaderSource>& own) {
  return name.starts_with("ceilings/") || (own && own->path.starts_with("harness/"));
}

/// The text of a file, or why there is none to be judged.
struct Read {
  std::string text;
  std::optional<Finding> problem;
};

Read problem(std::string word, const std::string& name, const std::string& what) {
  return {{}, Finding{std::move(word), fmt::format("'{}' {}", printable_line(name), what)}};
}

/// The text of the regular file `name` below `from`. Does not follow a link, even if the file is replaced by
/// one meanwhile.
Read text_of(const fs::path& from, const std::string& name) {
  const FileDescriptor file(::open((from / name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return problem("unreadable_file", name, "cannot be opened");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return problem("unreadable_file", name, "is not a regular file");
  const auto largest = static_cast<std::size_t>(gpu::largest_shader(name));
  std::optional<std::string> text = read_to_end(file.get(), largest + 1);
  if (!text) return problem("unreadable_file", name, "cannot be read");
  if (text->size() > largest)
    return problem("too_large", name, fmt::format("has more than {} bytes, too many for a shader", largest));
  return {*std::move(text), std::nullopt};
}

/// Whether the text uses glslang's way to write any instruction or decoration, as far as it is spelled out;
/// what it makes is looked at in the SPIR-V.
bool has_intrinsics(std::string_view text) {
  return text.find("GL_EXT_spirv_intrinsics") != std::string_view::npos;
}

/// What is wrong with an entry of the folder, if it is one that counts as a shader.
std::optional<Finding> problem_of(const fs::directory_entry& entry, const std::string& name) {
  std::error_code error;
  const bool is_shader = gpu::is_shader(entry.path());
  if (entry.is_symlink(error)) {
    if (!is_shader && !entry.is_directory(error)) return std::nullopt;
    return problem("symbolic_link", name, "is a symbolic link: a submission must contain its files").problem;
  }
  if (!is_shader || entry.is_directory(error)) return std::nullopt;
  if (!entry.is_regular_file(error)) return problem("unreadable_file", name, "is not a regular file").problem;
  if (printable_line(name) != name)
    return problem("bad_name", name, "has characters in its name that no report can show").problem;
  return std::nullopt;
}

/// The names of all shaders below `from`; links are added to `findings`.
std::vector<std::string> names_in(const fs::path& from, std::vector<Finding>& findings) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator at(from, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().lexically_relative(from).generic_string();
    std::error_code of_entry;
    if (std::optional<Finding> found = problem_of(*at, name)) {
      findings.push_back(*std::move(found));
    } else if (at->is_regular_file(of_entry) && gpu::is_shader(at->path())) {
      names.push_back(name);
    }
    if (names.size() + findings.size() > most_files) {
      findings.push_back({"too_many_files", fmt::format("it holds more than {} shaders", most_files)});
      return {};
    }
  }
  if (error) {
    throw Error(
        fmt::format("reading the submission: '{}' cannot be read: {}", from.string(), error.message()));
  }
  std::ranges::sort(names);
  return names;
}

/// Adds a finding for each kernel that has the file name of another, by which kernels are found.
void find_same_names(const std::vector<std::string>& names, std::vector<Finding>& findings) {
  std::map<fs::path, std::string> known;
  for (const std::string& name : names) {
    const fs::path path = name;
    if (!gpu::is_kernel(path)) continue;
    const auto [first, is_new] = known.try_emplace(path.filename(), name);
    if (is_new) continue;
    findings.push_back(
        {"same_name", fmt::format("'{}' and '{}' have the same file name, by which a kernel is found in all "
                                  "folders; remove or rename one of them",
                                  first->second, name)});
  }
}

/// Output inside the submission would be taken for a part of it the next time.
void refuse_output_inside(const fs::path& from, const fs::path& to) {
  if (!is_inside(to, from)) return;
  throw Error(
      fmt::format("choosing where to write: '{}' is inside the submission '{}'; name a folder outside of it "
                  "with --out",
                  to.string(), from.string()));
}

/// Whether a carriage return has no line feed after it: the compiler ends the line there.
bool has_bare_carriage_return(std::string_view source) {
  std::size_t at = source.find('\r');
  while (at != std::string_view::npos && source.substr(at).starts_with("\r\n"))
    at = source.find('\r', at + 1);
  return at != std::string_view::npos;
}

/// Removes comments from one line after another.
class Stripper {
 public:
  void add(std::string_view line) {
    const std::string kept = without(line);
    const std::size_t end = kept.find_last_not_of(" \t\r");
    if (end == std::string::npos) return;
    text_ += kept.substr(0, end + 1) + '\n';
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string without(std::string_view line) {
    if (!in_comment_ && line.find('"') != std::string_view::npos) return std::string(line);
    std::string kept;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view here = line.substr(i, 2);
      if (in_comment_) {
        if (here != "*/") continue;
        in_comment_ = false;
        ++i;
      } else if (here == "/*") {
        in_comment_ = true;
        kept += ' ';
        ++i;
      } else if (here == "//") {
        break;
      } else {
        kept += line[i];
      }
    }
    return kept;
  }

  std::string text_;
  bool in_comment_ = false;
};

std::vector<std::filesystem::path> folders(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  return {folder};
}

std::map<std::string, std::string> code_of(const gpu::ShaderSources& sources,
                                           const std::pair<std::string, gpu::ShaderFolders>& kernel) {
  std::map<std::string, std::string> code;
  for (const auto& [name, source] : sources.closure(kernel.first, kernel.second)) {
    code[name] = source.is_module() ? source.text : without_comments(source.text);
  }
  return code;
}

}  // namespace

Submission take_submission(const fs::path& from, const fs::path& to) {
  if (!fs::is_directory(from))
    throw Error(fmt::format("reading the submission: '{}' is not a folder", from.string()));
  refuse_output_inside(from, to);
  const gpu::ShaderSources embedded({}, gpu::embedded_shaders());
  Submission taken{.folder = to, .files = {}, .unchanged = {}, .findings = {}, .hash = {}};
  const std::vector<std::string> names = names_in(from, taken.findings);
  find_same_names(names, taken.findings);
  if (names.empty() && taken.findings.empty()) {
    throw Error(
        fmt::format("reading the submission: '{}' holds no shader (*.comp, *.spv, *.glslh, *.glsl), such as "
                    "`assay ops NAME` lists: a "
                    "kernel in any folder, an include in that of its path below shaders/ of the source tree",
                    from.string()));
  }
  std::string judged;
  make_directories(to);
  for (const std::string& name : names) {
    const Read read = text_of(from, name);
    if (read.problem) {
      taken.findings.push_back(*read.problem);
      continue;
    }
    const std::string& text = read.text;
    const std::optional<gpu::ShaderSource> own = own_shader(embedded, name);
    if (own && own->text == text) {
      taken.unchanged.push_back(name);
    } else if (is_of_harness(name, own)) {
      taken.findings.push_back(
          {"replaces_harness_shader",
           fmt::format("'{}' is a kernel of the harness, which is used to judge submissions; it is ignored",
                       printable(name))});
    } else if (has_intrinsics(text)) {
      taken.findings.push_back(
          {"spirv_intrinsics",
           fmt::format("'{}' uses GL_EXT_spirv_intrinsics, which is not allowed in submissions; include "
                       "common/rounding.glslh or linear/dot4x8.glslh for what those need it for",
                       printable(name))});
    } else {
      make_directories((to / name).parent_path());
      replace_file(to / name, text);
      append_counted(judged, name);
      append_counted(judged, text);
      taken.files.push_back(name);
    }
  }
  if (taken.files.empty() && taken.findings.empty()) {
    throw Error(
        fmt::format("reading the submission: each of the {} shaders in '{}' equals assay's own: there is "
                    "nothing to judge",
                    taken.unchanged.size(), from.string()));
  }
  taken.hash = source_hash(judged);
  const auto is_unfit = [](const Finding& finding) {
    return std::ranges::find(unfit, finding.word) != unfit.end();
  };
  if (std::ranges::any_of(taken.findings, is_unfit)) taken.files.clear();
  return taken;
}

std::string without_comments(std::string_view source) {
  // A comment that ends in a backslash goes on in the next line, and one ends at a carriage return alone. All
  // of these make comments count as code.
  if (source.find("__LINE__") != std::string_view::npos || source.find('\\') != std::string_view::npos ||
      has_bare_carriage_return(source))
    return std::string(source);
  Stripper stripper;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    stripper.add(source.substr(0, end));
    if (end == std::string_view::npos) break;
    source.remove_prefix(end + 1);
  }
  return std::move(stripper).text();
}

/// The SPIR-V as far as it decides what runs. What a kernel from outside is given is found by its names.
std::vector<std::uint32_t> ShaderUse::spirv_of(gpu::ShaderLibrary& library, const Variant& variant) {
  const auto& [kernel, defines] = variant;
  const gpu::Spirv& spirv = library.compile(kernel.first, defines, kernel.second);
  return kernel.second.empty() ? gpu::without_debug_information(spirv.words) : spirv.words;
}

ShaderUse::ShaderUse(const Submission& submission, const DeviceInfo& device, const Parts& parts)
    : device_(device),
      must_stop_(parts.must_stop),
      library_(shader_options(submission.folder, parts.compiler)),
      baseline_(shader_options(parts.baseline, parts.compiler)),
      sources_(folders(submission.folder), gpu::embedded_shaders()),
      baseline_sources_(folders(parts.baseline), gpu::embedded_shaders()) {}

std::vector<ShaderUse::Variant> ShaderUse::variants_of(const Case& test_case) const try {
  const std::array<const Case*, 1> alone{&test_case};
  const DeviceCases here(alone, device_);
  if (here.all().front()->invalid) return {};
  const RowProgram made = row_program(*here.all().front(), device_);
  if (!made.program || made.unsupported) return {};
  std::vector<Variant> variants;
  for (const Dispatch& dispatch : made.program->dispatches)
    variants.emplace_back(gpu::kernel_of(dispatch), dispatch.defines);
  return variants;
} catch (const std::exception&) {
  return {};  // its row would say why it cannot run
}

bool ShaderUse::is_made_of_it(const Kernel& kernel) {
  const auto [place, is_new] = made_of_it_.try_emplace(kernel, false);
  if (is_new) place->second = !library_.overrides(std::array{kernel}).used.empty();
  return place->second;
}

bool ShaderUse::differs_in_code(const Kernel& kernel) {
  const auto [place, is_new] = differ_in_code_.try_emplace(kernel, false);
  if (is_new) place->second = code_of(sources_, kernel) != code_of(baseline_sources_, kernel);
  return place->second;
}

void ShaderUse::stop_if_asked() const {
  if (must_stop_ && must_stop_()) throw JudgementStopped();
}

bool ShaderUse::differs(const Variant& variant) {
  stop_if_asked();
  const Kernel& kernel = variant.first;
  if (!is_made_of_it(kernel) || !differs_in_code(kernel)) return false;
  const auto [place, is_new] = differ_.try_emplace(variant, true);
  if (!is_new) return place->second;
  try {
    place->second = spirv_of(library_, variant) != spirv_of(baseline_, variant);
  } catch (const Error&) {
    place->second = true;  // its rows will report why it does not compile
  }
  return place->second;
}

bool ShaderUse::uses_files(const Case& test_case) {
  stop_if_asked();
  return std::ranges::any_of(variants_of(test_case),
                             [this](const Variant& variant) { return is_made_of_it(variant.first); });
}

bool ShaderUse::changes(const Case& test_case) {
  stop_if_asked();
  return std::ranges::any_of(variants_of(test_case),
                             [this](const Variant& variant) { return differs(variant); });
}

}  // namespace assay::app
