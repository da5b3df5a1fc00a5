#include "harness/cases/describe/ops_page.h"

#include "harness/base/error.h"
#include "harness/cases/describe/describe.h"
#include "harness/cases/param_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

namespace assay {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* rows_begin = "|---|---|";
constexpr std::string_view row_prefix = "| [`";
constexpr std::string_view section_prefix = "## ";

/// Returns the text of a table cell. A bar would end the cell, even between backquotes.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string quoted(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", cell(text));
}

std::string row_of(const Op& op) {
  return fmt::format("{0}{1}`](#{1}) | {2} |\n", row_prefix, op.name, cell(op.summary));
}

std::string default_of(const ParamSpec& param) {
  if (param.derive) return "from others";
  return param.fallback ? to_string(*param.fallback) : "required";
}

std::string params_of(const Op& op) {
  std::string text = "| parameter | type | range | default | meaning |\n|---|---|---|---|---|\n";
  for (const ParamSpec& param : op.params) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", param.name, cases::type_text(param),
                        cell(cases::limits_text(param)), default_of(param), cell(param.doc));
  }
  return text;
}

std::string impls_of(const Op& op) {
  std::string text = "| impl | how | needs | tunables |\n|---|---|---|---|\n";
  for (const Impl& impl : op.impls) {
    Lines needs, tunables;
    for (const Feature feature : impl.needs) needs.push_back(quoted(std::string(name_of(feature))));
    for (const Tunable& tunable : impl.tunables) tunables.push_back(quoted(tunable.name));
    text += fmt::format("| `{}` | {} | {} | {} |\n", impl.name, cell(impl.summary), fmt::join(needs, ", "),
                        fmt::join(tunables, ", "));
  }
  return text;
}

std::string files_row(const std::string& what, const Lines& files) {
  Lines names;
  for (const std::string& file : files) names.push_back(quoted(file));
  return names.empty() ? "" : fmt::format("| {} | {} |\n", what, fmt::join(names, ", "));
}

/// Returns the references named after the op, in any folder. A family's shared references are many and change
/// too often for this page.
Lines own_references(const Op& op, const Lines& references) {
  Lines own;
  for (const std::string& path : references) {
    if (std::filesystem::path(path).stem() == op.name) own.push_back(path);
  }
  return own;
}

/// Returns the table of files, without what a family shares, which `assay ops NAME` prints.
std::string files_table(const Op& op, const OpFiles& files) {
  const Lines declaration(files.sources.begin(), files.sources.begin() + (files.sources.empty() ? 0 : 1));
  return "| files | |\n|---|---|\n" + files_row("cases", files.cases) +
         files_row("declaration", declaration) +
         files_row("reference", own_references(op, files.references)) + files_row("shaders", files.shaders);
}

std::string section_of(const Op& op, std::span<const Case> cases) {
  return fmt::format("\n{}{}\n\n{}\n\n{}\n{}\n{}", section_prefix, op.name, op.summary, params_of(op),
                     impls_of(op), files_table(op, files_of(op, cases)));
}

std::vector<const Op*> by_name(const Registry& registry) {
  std::vector<const Op*> ops;
  for (const Op& op : registry.ops()) ops.push_back(&op);
  std::ranges::sort(ops, {}, [](const Op* op) { return op->name; });
  return ops;
}

Lines lines_of(const std::string& text) {
  std::istringstream stream(text);
  Lines lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line + '\n');
  return lines;
}

/// Returns the op that a table row or section heading is about; empty for other lines.
std::string op_of(const std::string& line, std::string_view prefix, std::string_view end) {
  if (!line.starts_with(prefix)) return "";
  return line.substr(prefix.size(), line.find(end, prefix.size()) - prefix.size());
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(fmt::format("adding the op '{}' to docs/ops.md: {}; `{}` rewrites the page", name, why,
                          ops_page_command));
}

}  // namespace

std::string ops_page(const Registry& registry, std::span<const Case> cases) {
  std::string rows, sections;
  for (const Op* op : by_name(registry)) {
    rows += row_of(*op);
    sections += section_of(*op, cases);
  }
  return fmt::format(
      "# Ops\n\n"
      "This page is generated from the ops' own declarations. Do not edit it; regenerate it with\n\n"
      "```sh\n{}\n```\n\n"
      "`assay ops NAME` prints the same for one op, with its tensors, the ranges of its tunables, and the "
      "files\n"
      "that its family shares. [ops/README.md](../ops/README.md) adds an op.\n\n"
      "| op | what it does |\n{}\n{}{}",
      ops_page_command, rows_begin, rows, sections);
}

std::string with_op_added(const std::string& page, const std::string& name, const std::string& row,
                          const std::string& section) {
  Lines lines = lines_of(page);
  const auto begin = std::ranges::find(lines, std::string(rows_begin) + '\n');
  if (begin == lines.end()) refuse(name, "it has no table of ops");
  auto at = begin + 1;
  for (; at != lines.end() && at->starts_with(row_prefix); ++at) {
    const std::string other = op_of(*at, row_prefix, "`");
    if (other == name) refuse(name, "it already has a row of that name");
    if (other > name) break;
  }
  at = lines.insert(at, row);
  // A section ends with the blank line before the next heading.
  at = std::find_if(at, lines.end(),
                    [&](const std::string& line) { return op_of(line, section_prefix, "\n") > name; });
  lines.insert(at == lines.end() ? at : at - 1, section);
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace assay
