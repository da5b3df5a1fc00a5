#include "harness/cases/yaml/reporter.h"

#include <fmt/format.h>

namespace assay::cases {

void Reporter::add(Diagnostic diagnostic) {
  const SourceLocation& where = diagnostic.where;
  if (is_full(where.file)) return;
  const std::string key =
      fmt::format("{}:{}:{}:{}", where.file, where.line, where.column, diagnostic.message);
  if (!seen_.insert(key).second) return;
  if (++count_[where.file] <= most_per_file) {
    diagnostics_.push_back(std::move(diagnostic));
    return;
  }
  const std::string message = fmt::format("more than {} errors: the rest are not shown", most_per_file);
  diagnostics_.push_back(file_diagnostic(where.file, message));
}

void Reporter::add_flaws(const Node& node) {
  for_each_flaw(node, [this](const Flaw& flaw) {
    add(diagnose(flaw));
    return !is_full(flaw.at->file->path().string());
  });
}

bool Reporter::is_full(const std::string& file) const {
  const auto found = count_.find(file);
  return found != count_.end() && found->second > most_per_file;
}

namespace {

/// Each of a million points may have an error; a person reads no more than this many.
constexpr std::size_t most_kept = 200;

}  // namespace

void Problems::add(const Problem& problem) {
  for (const Diagnostic& diagnostic : problem.diagnostics()) {
    if (all_.size() >= most_kept) return;
    const SourceLocation& where = diagnostic.where;
    all_.emplace(Place{where.file, where.line, where.column, diagnostic.message}, diagnostic);
  }
}

void Problems::settle() const {
  if (all_.empty()) return;
  std::vector<Diagnostic> diagnostics;
  for (const auto& [place, diagnostic] : all_) diagnostics.push_back(diagnostic);
  throw Problem(std::move(diagnostics));
}

}  // namespace assay::cases
