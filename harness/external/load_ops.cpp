#include "harness/external/load_ops.h"

#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_parser.h"
#include "harness/external/external_op.h"
#include "harness/external/manifest/manifest_reader.h"
#include "harness/external/other_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

using cases::diagnose;
using cases::file_diagnostic;
using cases::Node;
using cases::Problem;

/// manifests_in(), or a Problem if there is none.
std::vector<fs::path> some_manifests_in(const fs::path& folder) {
  std::vector<fs::path> found = manifests_in(folder);
  if (!found.empty()) return found;
  std::error_code error;
  const fs::directory_iterator readable(folder, error);
  const std::string why = error ? ": " + error.message() : "";
  throw Problem(file_diagnostic(
      folder,
      fmt::format("there is no {} in this folder or in one directly below it{}", manifest_name, why)));
}

/// Says what often breaks YAML in a manifest, where the line looks like it.
Problem with_hint(const Problem& problem) {
  std::vector<Diagnostic> diagnostics = problem.diagnostics();
  for (Diagnostic& one : diagnostics) {
    const bool has_flow = one.source_line.find_first_of("[{") != std::string::npos;
    const bool has_index =
        one.source_line.find_first_of("[(", one.source_line.find_first_of("[{") + 1) != std::string::npos;
    if (has_flow && has_index) {
      one.message +=
          "; inside [] and {} an expression with a bracket or a comma must be quoted, as \"shape[0]\"";
    }
  }
  return Problem(std::move(diagnostics));
}

const Node& parsed(const cases::SourceFile& source, cases::Arena& arena) try {
  const Node* root = parse_yaml(source, arena);
  if (root == nullptr || !root->is_map())
    throw Problem(source.diagnose({}, "a manifest is a map with an 'op' and its 'impls'"));
  return *root;
} catch (const Problem& problem) {
  throw with_hint(problem);
}

/// Loads ops, each once.
class OpLoader {
 public:
  OpLoader(const Registry& builtin, LoadedOps& loaded) : builtin_(builtin), loaded_(loaded) {}

  void load(const fs::path& file) {
    std::error_code error;
    if (!seen_.emplace(fs::weakly_canonical(file, error), file).second) return;
    const cases::SourceFile source = cases::SourceFile::read(file);
    cases::Arena arena;
    const Node& root = parsed(source, arena);
    cases::Reporter flaws;
    flaws.add_flaws(root);
    if (flaws.size() > 0) throw Problem(flaws.take());
    Manifest manifest = read_manifest(root);
    if (is_loaded(manifest)) return;
    refuse_known(manifest, root);
    loaded_.ops.push_back(with_place(std::move(manifest), root));
  }

 private:
  /// op_of(), whose errors become problems of the reference.
  Op with_place(Manifest manifest, const Node& root) try {
    return op_of(std::move(manifest), builtin_);
  } catch (const PlacedError& error) {
    Diagnostic told = diagnose(*root.find_entry("reference")->key, error.message);
    if (error.where.line == told.where.line) told.where = error.where;
    throw Problem(told);
  }

  /// Whether the registry has the op of this very file, as that of a command which runs another has.
  bool is_loaded(const Manifest& manifest) const {
    const Op* op = builtin_.find(manifest.op);
    std::error_code error;
    return op != nullptr && !op->declared_in.empty() && fs::equivalent(op->declared_in, manifest.file, error);
  }

  void refuse_known(const Manifest& manifest, const Node& root) {
    const Node& name = *root.find_entry("op")->value;
    if (const Op* op = builtin_.find(manifest.op)) {
      throw Problem(
          diagnose(name, fmt::format("'{}' is an op of assay, declared in {}: name this one otherwise",
                                     manifest.op, op->files.empty() ? "its sources" : op->files.front())));
    }
    const auto [known, is_new] = declared_.emplace(manifest.op, manifest.file);
    if (!is_new) {
      throw Problem(diagnose(
          name, fmt::format("the op '{}' is already declared in {}", manifest.op, known->second.string())));
    }
  }

  const Registry& builtin_;
  LoadedOps& loaded_;
  std::map<fs::path, fs::path> seen_;
  std::map<std::string, fs::path> declared_;
};

}  // namespace

std::vector<fs::path> manifests_in(const fs::path& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder / manifest_name, error)) return {folder / manifest_name};
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (fs::is_regular_file(at->path() / manifest_name, ignored)) found.push_back(at->path() / manifest_name);
  }
  std::ranges::sort(found);
  return found;
}

LoadedOps load_ops(std::span<const fs::path> folders, const Registry& builtin) {
  LoadedOps loaded;
  cases::Reporter reporter;
  OpLoader loader(builtin, loaded);
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const Problem& problem) {
      reporter.add(problem);
    }
  };
  for (const fs::path& folder : folders) {
    attempt([&] {
      for (const fs::path& file : some_manifests_in(folder)) attempt([&] { loader.load(file); });
    });
  }
  loaded.errors = reporter.take();
  return loaded;
}

}  // namespace assay::external
