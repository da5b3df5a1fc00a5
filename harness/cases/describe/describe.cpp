#include "harness/cases/describe/describe.h"

#include "harness/base/error.h"
#include "harness/base/names.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/describe/reachable_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cases {
namespace {

std::string range_of(std::int64_t low, std::int64_t high) {
  const bool no_low = low == std::numeric_limits<std::int32_t>::min();
  const bool no_high = high == std::numeric_limits<std::int32_t>::max();
  if (no_low && no_high) return "";
  if (no_high) return fmt::format(">= {}", low);
  if (no_low) return fmt::format("<= {}", high);
  return fmt::format("{}..{}", low, high);
}

std::string number_range(const ParamSpec& param) {
  std::vector<std::string> parts;
  if (param.positive) parts.emplace_back("> 0");
  if (param.min_number > -std::numeric_limits<double>::infinity()) {
    parts.push_back(fmt::format(">= {}", param.min_number));
  }
  if (param.max_number < std::numeric_limits<double>::infinity()) {
    parts.push_back(fmt::format("<= {}", param.max_number));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string length_of(const ParamSpec& param, std::string_view what) {
  if (param.min_rank == param.max_rank) return fmt::format("{} {}", param.min_rank, what);
  return fmt::format("{} to {} {}", param.min_rank, param.max_rank, what);
}

}  // namespace

std::string type_text(const ParamSpec& param) {
  static constexpr Names<7> names{"shape", "integer", "number", "boolean", "choice", "integers", "qparams"};
  return std::string(name_in(names, param.kind));
}

std::string limits_text(const ParamSpec& param) {
  switch (param.kind) {
    case ParamSpec::Kind::Shape:
      return length_of(param, "dims >= 1");
    case ParamSpec::Kind::Ints: {
      const std::string range = range_of(param.min_integer, param.max_integer);
      return length_of(param, "entries") + (range.empty() ? "" : " " + range);
    }
    case ParamSpec::Kind::Integer:
      return range_of(param.min_integer, param.max_integer);
    case ParamSpec::Kind::Number:
      return number_range(param);
    case ParamSpec::Kind::Boolean:
      return "true | false";
    case ParamSpec::Kind::Choice:
      return fmt::format("{}", fmt::join(param.choices, " | "));
    case ParamSpec::Kind::QParams:
      return fmt::format("scale > 0, zero_point {}..{}", param.zero_point_min, param.zero_point_max);
  }
  return {};
}

std::string default_text(const ParamSpec& param) {
  if (param.derive) return "has a default";
  return param.fallback ? "default " + to_string(*param.fallback) : "required";
}

}  // namespace assay::cases

namespace assay {
namespace {

using Paths = std::set<std::string>;

std::vector<std::string> sorted(const Paths& paths) {
  return {paths.begin(), paths.end()};
}

Paths case_files_of(const Op& op, std::span<const Case> cases) {
  Paths paths;
  for (const Case& test_case : cases) {
    if (test_case.op == &op) paths.insert(test_case.where->file);
  }
  return paths;
}

Paths shaders_of(const Op& op, std::span<const Case> cases, const ShaderPath& shader_path) {
  Paths names, paths;
  each_reachable_program(op, cases, contrasting_devices(), [&](const Program& program, const BuildContext&) {
    for (const Dispatch& dispatch : program.dispatches) names.insert(dispatch.shader);
  });
  const std::filesystem::path folder = op.declared_in.parent_path();
  for (const std::string& name : names) {
    const bool is_beside = !op.declared_in.empty() && std::filesystem::exists(folder / name);
    paths.insert(is_beside ? (folder / name).generic_string() : shader_path(name));
  }
  return paths;
}

}  // namespace

OpFiles files_of(const Op& op, std::span<const Case> cases, const ShaderPath& shader_path) {
  OpFiles files{.cases = sorted(case_files_of(op, cases)),
                .shaders = sorted(shaders_of(op, cases, shader_path))};
  const auto is_own = [&](const std::string& path) { return path == "cases/" + op.name + ".yaml"; };
  std::stable_partition(files.cases.begin(), files.cases.end(), is_own);
  for (const std::string& path : op.files) {
    (path.starts_with("references/") ? files.references : files.sources).push_back(path);
  }
  return files;
}

namespace {

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;
using Widths = std::vector<std::size_t>;  ///< column widths

/// Widens the columns to fit one more row.
void widen(Widths& widths, const Row& row) {
  widths.resize(std::max(widths.size(), row.size()));
  for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
}

/// Returns one line, indented and with columns separated by two blanks.
std::string aligned(const Row& row, const Widths& widths) {
  std::string line = " ";
  for (std::size_t i = 0; i < row.size(); ++i)
    line += " " + row[i] + std::string(widths[i] - columns_of(row[i]) + 1, ' ');
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

/// Returns lines whose columns are as wide as their longest cell.
std::string aligned(const Rows& rows) {
  Widths widths;
  for (const Row& row : rows) widen(widths, row);
  std::string text;
  for (const Row& row : rows) text += aligned(row, widths);
  return text;
}

std::string describe_params(const Op& op) {
  Rows rows;
  for (const ParamSpec& param : op.params) {
    rows.push_back({param.name, cases::type_text(param), cases::limits_text(param),
                    cases::default_text(param), param.doc});
  }
  return aligned(rows);
}

std::string describe_tensors(const Op& op, const Case* example) {
  if (example == nullptr)
    return "  they depend on the parameters, and no case of this op is loaded as an example\n";
  Rows rows;
  for (std::size_t i = 0; i < example->tensors->size(); ++i) {
    if (is_data_before(example->tensors, i)) continue;  // told by the output of its name
    const TensorSpec& tensor = example->tensors[i];
    const std::string role = tensor.is_input()        ? "input"
                             : tensor.written_in_part ? "output, in part"
                             : tensor.starts_as       ? "inout"
                                                      : "output";
    rows.push_back({tensor.name, role, std::string(name_of(tensor.dtype)), to_string(tensor.shape),
                    tensor.is_input() ? "" : std::string(name_of(tensor.output_class)),
                    fmt::format("{}", fmt::join(accepted_forms(op, tensor), " "))});
  }
  return aligned(rows) + fmt::format("  (for the case {}: the tensors of {} depend on its parameters)\n",
                                     example->id, op.name);
}

std::string describe_impls(const Op& op) {
  std::string text;
  for (const Impl& impl : op.impls) {
    text += fmt::format("  {}{}\n", impl.name, impl.summary.empty() ? "" : ": " + impl.summary);
    std::vector<std::string> needs;
    for (const Feature feature : impl.needs) needs.emplace_back(name_of(feature));
    if (!needs.empty()) text += fmt::format("    needs {}\n", fmt::join(needs, ", "));
    if (impl.conv2d_layout) text += fmt::format("    CONV2D is {}\n", name_of(*impl.conv2d_layout));
    for (const Tunable& tunable : impl.tunables) {
      const std::string fallback =
          tunable.fallback == 0 ? "chosen by the impl" : std::to_string(tunable.fallback);
      text += fmt::format("    tune {} {}, default {}{}\n", tunable.name, tunable.range_text(), fallback,
                          tunable.doc.empty() ? "" : ": " + tunable.doc);
    }
  }
  return text;
}

/// Returns text such as "llama_3_2_1b attn.kv x32".
std::string model_text(const Case& test_case) {
  std::string text = test_case.model;
  if (!test_case.layer.empty()) text += " " + test_case.layer;
  if (test_case.calls > 0) text += fmt::format(" x{}", test_case.calls);
  return text;
}

/// Returns the columns of `assay list --long` for a case.
Row cells_of(const Case& test_case) {
  return {test_case.id,
          std::string(name_of(test_case.mode)),
          std::string(name_of(test_case.tier)),
          fmt::format("{}:{}", printable(test_case.where->file), test_case.where->line),
          printable(model_text(test_case)),
          conv2d_text(test_case)};
}

void add_files(Rows& rows, std::string label, std::span<const std::string> files) {
  for (const std::string& file : files) rows.push_back({std::exchange(label, ""), file});
}

}  // namespace

std::string describe_files(const OpFiles& files, std::span<const std::string> includes) {
  const std::span<const std::string> sources = files.sources;
  const std::size_t own = std::min<std::size_t>(1, sources.size());
  Rows rows;
  add_files(rows, "cases", files.cases);
  add_files(rows, "declaration", sources.first(own));
  add_files(rows, "shared code", sources.subspan(own));
  add_files(rows, "references", files.references);
  add_files(rows, "shaders", files.shaders);
  add_files(rows, "included", includes);
  return "files\n" + aligned(rows);
}

void list_cases(std::span<const Case* const> cases, bool details, std::ostream& out) {
  if (!details) {
    for (const Case* test_case : cases) out << test_case->id << '\n';
    return;
  }
  // Cells are computed twice, because those of a million cases would take too much memory.
  Widths widths;
  for (const Case* test_case : cases) widen(widths, cells_of(*test_case));
  for (const Case* test_case : cases) out << aligned(cells_of(*test_case), widths);
}

std::string list_ops(const Registry& registry) {
  Rows rows;
  for (const Op& op : registry.ops()) rows.push_back({op.name, op.summary});
  return aligned(rows);
}

std::string describe_op(const Op& op, const Case* example) {
  return fmt::format("{}: {}\n\nparameters\n{}\ntensors\n{}\nimpls\n{}", op.name, op.summary,
                     describe_params(op), describe_tensors(op, example), describe_impls(op));
}

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

/// Returns the references named after the op, in any folder; if there are none, those of its family, which is
/// the folder of its declaration.
Lines own_references(const Op& op, const OpFiles& files) {
  Lines own;
  Lines of_family;
  const std::filesystem::path family =
      files.sources.empty() ? "" : std::filesystem::path(files.sources.front()).parent_path().filename();
  for (const std::filesystem::path path : files.references) {
    if (path.stem() == op.name) own.push_back(path);
    if (path.parent_path().filename() == family) of_family.push_back(path);
  }
  return own.empty() ? of_family : own;
}

/// Returns the table of files, without what a family shares, which `assay ops NAME` prints.
std::string files_table(const Op& op, const OpFiles& files) {
  const Lines declaration(files.sources.begin(), files.sources.begin() + (files.sources.empty() ? 0 : 1));
  return "| files | |\n|---|---|\n" + files_row("cases", files.cases) +
         files_row("declaration", declaration) + files_row("reference", own_references(op, files)) +
         files_row("shaders", files.shaders);
}

std::string section_of(const Op& op, std::span<const Case> cases, const ShaderPath& shader_path) {
  return fmt::format("\n{}{}\n\n{}\n\n{}\n{}\n{}", section_prefix, op.name, op.summary, params_of(op),
                     impls_of(op), files_table(op, files_of(op, cases, shader_path)));
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

std::string ops_page(const Registry& registry, std::span<const Case> cases, const ShaderPath& shader_path) {
  std::string rows, sections;
  for (const Op* op : by_name(registry)) {
    rows += row_of(*op);
    sections += section_of(*op, cases, shader_path);
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
