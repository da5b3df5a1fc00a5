#include "harness/commands/judge/shader_use.h"

#include "harness/cases/conv2d_alias.h"
#include "harness/commands/run/setup/shader_folders.h"
#include "harness/engine/run/row_program.h"

#include <algorithm>
#include <array>
#include <exception>

namespace assay::app {

namespace {

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

}  // namespace

std::string without_comments(std::string_view source) {
  // A comment that ends in a backslash goes on in the next line; both make comments count as code.
  if (source.find("__LINE__") != std::string_view::npos || source.find('\\') != std::string_view::npos)
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

namespace {

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

/// The SPIR-V as far as it decides what runs. What a kernel from outside is given is found by its names.
std::vector<std::uint32_t> ShaderUse::spirv_of(gpu::ShaderLibrary& library, const Variant& variant) {
  const auto& [kernel, defines] = variant;
  const gpu::Spirv& spirv = library.compile(kernel.first, defines, kernel.second);
  return kernel.second.empty() ? gpu::without_debug_information(spirv.words) : spirv.words;
}

ShaderUse::ShaderUse(const Submission& submission, const DeviceInfo& device, const Parts& parts)
    : device_(device),
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

bool ShaderUse::differs(const Variant& variant) {
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
  return std::ranges::any_of(variants_of(test_case),
                             [this](const Variant& variant) { return is_made_of_it(variant.first); });
}

bool ShaderUse::changes(const Case& test_case) {
  return std::ranges::any_of(variants_of(test_case),
                             [this](const Variant& variant) { return differs(variant); });
}

}  // namespace assay::app
