#include "harness/commands/new_op/new_op.h"

#include "harness/base/file.h"
#include "harness/cases/describe/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <ostream>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 48;
constexpr const char* ops_page_file = "docs/ops.md";

/// Words that cannot be the name of a function in ops/: C++'s keywords, and names that ops and CMake use.
constexpr auto taken_words = std::to_array<std::string_view>(
    {"alignas",    "alignof",  "and",       "asm",        "assay",     "auto",
     "bool",       "boolean",  "break",     "case",       "catch",     "char",
     "choice",     "class",    "concept",   "const",      "consteval", "constexpr",
     "constinit",  "continue", "decltype",  "default",    "delete",    "divide",
     "divider",    "do",       "double",    "else",       "enum",      "invalid_reason",
     "explicit",   "export",   "extern",    "false",      "float",     "for",
     "friend",     "goto",     "if",        "inline",     "int",       "integer",
     "ints",       "long",     "mutable",   "namespace",  "new",       "noexcept",
     "not",        "nullptr",  "number",    "numel",      "operator",  "ops",
     "or",         "private",  "protected", "public",     "qparams",   "rank",
     "references", "register", "registry",  "requires",   "return",    "shape",
     "short",      "signed",   "sizeof",    "static",     "std",       "struct",
     "switch",     "template", "tensors",   "this",       "throw",     "true",
     "try",        "typedef",  "typeid",    "typename",   "union",     "unsigned",
     "using",      "virtual",  "void",      "volatile",   "while",     "work",
     "xor",        "common",   "compute",   "elementwise"});

/// Words that cannot be the name of a function in the reference of an external op: Python's keywords but
/// those of C++, and what that file imports.
constexpr auto python_words = std::to_array<std::string_view>(
    {"as",      "assert", "async",  "await",  "def",  "del",  "elif",   "except",
     "finally", "from",   "global", "import", "in",   "is",   "lambda", "nonlocal",
     "np",      "numpy",  "pass",   "raise",  "with", "yield"});

/// Why an op cannot have this name; empty if it can.
std::string fault_of(const std::string& name, bool external, const Registry& registry) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || !is_letter(name.front()) || !std::ranges::all_of(name, is_allowed))
    return "a name is made of lower-case letters, digits and underscores, a letter first: 'my_op2'";
  if (name.find("__") != std::string::npos || name.ends_with('_'))
    return "underscores must stand alone, between letters or digits";
  if (name.ends_with("_test") || name.ends_with("_test_support"))
    return "files that end in _test.cpp or _test_support.cpp are taken for tests";
  if (name.size() > longest_name)
    return fmt::format("it has {} characters; at most {} are allowed", name.size(), longest_name);
  if (std::ranges::find(taken_words, name) != taken_words.end())
    return "the word has a meaning in C++ or in ops/";
  if (external && std::ranges::find(python_words, name) != python_words.end())
    return "the word has a meaning in Python, in which the reference is written";
  if (registry.find(name) != nullptr) return "an op of this name exists";
  return "";
}

std::string with_name(std::string text, const std::string& name) {
  constexpr std::string_view placeholder = "NEW_OP";
  for (auto at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + name.size()))
    text.replace(at, placeholder.size(), name);
  return text;
}

std::vector<NewFile> files_of(const std::string& name, bool external) {
  std::vector<NewFile> files = external ? external_op_templates() : new_op_templates();
  for (NewFile& file : files) file = {with_name(file.path, name), with_name(file.text, name)};
  return files;
}

/// docs/ops.md of the tree, with the new op added.
NewFile page_with(const std::string& name, const fs::path& root) {
  const fs::path path = root / ops_page_file;
  const std::optional<std::string> page = whole_file(path);
  if (!page) {
    throw Error(
        fmt::format("writing the op '{}': '{}' cannot be read, so '{}' is not assay's source tree; go to the "
                    "tree's root or give it with --dir",
                    name, path.string(), root.string()));
  }
  const NewOpEntry entry = new_op_entry();
  return {ops_page_file,
          with_op_added(*page, name, with_name(entry.row, name), with_name(entry.section, name))};
}

/// What is in the place of a new file: the file itself, or for a kernel one of its file name in any folder of
/// shaders/, by which kernels are found. Nothing if the place is free.
std::optional<fs::path> taken_by(const fs::path& path) {
  if (fs::exists(fs::symlink_status(path))) return path;
  if (path.extension() != ".comp") return std::nullopt;
  for (const auto& entry : fs::recursive_directory_iterator(path.parent_path())) {
    if (entry.path().filename() == path.filename()) return entry.path();
  }
  return std::nullopt;
}

/// Throws if any file cannot be written, so that either all or none are.
void refuse_to_harm(const fs::path& root, const std::vector<NewFile>& files, const std::string& name) {
  for (const NewFile& file : files) {
    const fs::path path = root / file.path;
    if (!fs::is_directory(path.parent_path())) {
      throw Error(
          fmt::format("writing the op '{}': there is no folder '{}', so '{}' is not assay's source tree; go "
                      "to the tree's root or name it with --dir",
                      name, path.parent_path().string(), root.string()));
    }
    if (const std::optional<fs::path> taken = taken_by(path)) {
      throw Error(
          fmt::format("writing the op '{}': '{}' already exists and is not changed; choose another name or "
                      "remove the file",
                      name, taken->string()));
    }
  }
}

void write(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) return;
  throw Error(fmt::format("writing '{}': {}", path.string(), std::strerror(errno)), ExitCode::Infrastructure);
}

ExitCode new_external_op(const NewOpOptions& options, std::ostream& out) {
  const std::string& name = options.name;
  const fs::path folder = options.root / name;
  if (fs::exists(fs::symlink_status(folder))) {
    throw Error(
        fmt::format("writing the op '{}': '{}' already exists and is not changed", name, folder.string()));
  }
  make_directories(folder);
  for (const NewFile& file : files_of(name, true)) {
    write(options.root / file.path, file.text);
    out << "wrote " << (options.root / file.path).lexically_normal().string() << '\n';
  }
  out << fmt::format(
      "\nThe op computes y = x * factor. It passes as it is:\n  assay run --ops {0}\n"
      "Then change the kernel, the reference and the manifest (see docs/own-ops.md).\n",
      folder.lexically_normal().string());
  return ExitCode::Fine;
}

}  // namespace

ExitCode new_op(const NewOpOptions& options, const Registry& registry, std::ostream& out) {
  const std::string& name = options.name;
  if (const std::string fault = fault_of(name, options.external, registry); !fault.empty())
    throw Error(fmt::format("naming an op '{}': {}", name, fault));
  if (options.external) return new_external_op(options, out);
  const std::vector<NewFile> files = files_of(name, false);
  refuse_to_harm(options.root, files, name);
  const NewFile page = page_with(name, options.root);
  for (const NewFile& file : files) {
    write(options.root / file.path, file.text);
    out << "wrote " << (options.root / file.path).lexically_normal().string() << '\n';
  }
  write(options.root / page.path, page.text);
  out << "added it to " << (options.root / page.path).lexically_normal().string() << '\n';
  out << fmt::format(
      "\nThe op computes y = x * factor + offset. It builds and passes as it is:\n"
      "  cmake --preset release && ninja -C build/release assay\n"
      "  build/release/assay run cases/{0}.yaml\n"
      "Then replace the arithmetic in references/{0}.cpp and shaders/{0}.comp (see ops/README.md).\n",
      name);
  return ExitCode::Fine;
}

}  // namespace assay::app
