#include "harness/cases/yaml/problems.h"

namespace assay::cases {
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
