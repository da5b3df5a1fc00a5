#include "harness/external/manifest/fields.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/yaml/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

using cases::diagnose;
using cases::Problem;
using cases::Spot;

/// The place of byte `position` of a scalar's text.
cases::Mark mark_in(const Node& value, std::size_t position) {
  cases::Mark mark = value.mark;
  mark.byte += static_cast<int>(position) + (value.quoted ? 1 : 0);
  return mark;
}

[[noreturn]] void throw_at(const Node& value, std::size_t position, std::string message,
                           std::string suggestion = {}) {
  throw Problem(value.file->diagnose(mark_in(value, position), std::move(message), std::move(suggestion)));
}

/// What cuts an expression short in YAML's flow style, in words.
std::string hint_of_flow(const Node& value) {
  const auto count = [&](char c) { return std::ranges::count(value.text, c); };
  const bool is_cut = !value.quoted && (count('(') != count(')') || count('[') != count(']'));
  return is_cut ? "; inside [] and {} an expression with a bracket or a comma must be quoted" : "";
}

void check_names_of(const Node& value, const Expression& expression, const Scope& scope) {
  for (const UsedName& used : expression.names()) {
    if (!used.is_quoted && scope.has(used.text)) continue;
    const auto choice = scope.choices.find(used.compared_with);
    const bool is_compared = choice != scope.choices.end();
    const std::vector<std::string>& known = is_compared ? choice->second : scope.names;
    if (used.is_quoted && !is_compared) continue;  // its evaluation says what is wrong
    if (is_compared && std::ranges::find(known, used.text) != known.end()) continue;
    const std::string meant = cases::nearest(used.text, known);
    throw_at(value, used.position,
             is_compared ? fmt::format("'{}' is no choice of '{}'", used.text, used.compared_with)
                         : fmt::format("'{}' is unknown here", used.text),
             meant);
  }
}

fs::path path_in(const fs::path& folder, const Node& value, const Spot& spot) {
  const std::string& text = cases::to_text(value, spot);
  const fs::path name = fs::path(text).lexically_normal();
  const bool leads_out = text.empty() || name.is_absolute() || *name.begin() == "..";
  std::error_code error;
  const fs::path real = fs::weakly_canonical(folder / name, error);
  if (leads_out || text.find('\0') != std::string::npos ||
      (!error && !is_inside(real, fs::canonical(folder)))) {
    throw Problem(
        diagnose(value, fmt::format("'{}' must be below the manifest's folder", printable_line(text))));
  }
  return name;
}

}  // namespace

bool Scope::has(const std::string& name) const {
  return std::ranges::find(names, name) != names.end();
}

void check_name(const Node& key, const std::string& what) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const std::string& name = key.text;
  constexpr std::size_t longest = 64;
  const bool begins_well = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  static const std::vector<std::string> words{"device", "and", "or", "not"};
  if (std::ranges::find(words, name) != words.end()) {
    throw Problem(
        diagnose(key, fmt::format("'{}' has a meaning in expressions: name {} otherwise", name, what)));
  }
  if (key.is_scalar() && begins_well && name.size() <= longest && std::ranges::all_of(name, is_fine)) return;
  throw Problem(
      diagnose(key, fmt::format("'{}' cannot be the name of {}: it may have {} letters, digits and '_', "
                                "and begins with no digit",
                                printable_line(name), what, longest)));
}

PlacedExpression expression_of(const Node& value, const Spot& spot, const Scope& scope) {
  if (!value.is_scalar()) cases::wrong_type(value, spot, "an integer or an expression" + hint_of_flow(value));
  try {
    Expression expression = Expression::parse(value.text);
    check_names_of(value, expression, scope);
    return {std::move(expression), value.file->locate(mark_in(value, 0))};
  } catch (const ExpressionError& error) {
    throw_at(value, error.position(),
             fmt::format("'{}': {}{}", spot.name, error.what(), hint_of_flow(value)));
  }
}

std::vector<NamedExpression> expressions_in(const Node::Entry* entry, const Scope& scope) {
  std::vector<NamedExpression> found;
  if (entry == nullptr) return found;
  const std::string& name = entry->key->text;
  if (!entry->value->is_map())
    cases::wrong_type(*entry->value, {entry->key, name}, "a map of expressions by name");
  cases::Problems problems;
  for (const Node::Entry& one : entry->value->entries) {
    problems.attempt([&] {
      found.push_back({one.key->text, expression_of(*one.value, {one.key, one.key->text}, scope)});
    });
  }
  problems.settle();
  return found;
}

std::string text_in(const Node& map, const std::string& key) {
  const Node::Entry* entry = map.find_entry(key);
  return entry == nullptr ? "" : cases::to_text(*entry->value, {entry->key, key});
}

fs::path file_in(const fs::path& folder, const Node& value, const Spot& spot) {
  const fs::path name = path_in(folder, value, spot);
  std::error_code ignored;
  if (fs::is_regular_file(folder / name, ignored)) return name;
  throw Problem(diagnose(value, fmt::format("there is no file '{}' in {}", name.string(), folder.string())));
}

fs::path folder_in(const fs::path& folder, const Node& value, const Spot& spot) {
  const fs::path name = path_in(folder, value, spot);
  std::error_code ignored;
  if (fs::is_directory(folder / name, ignored)) return name;
  throw Problem(
      diagnose(value, fmt::format("there is no folder '{}' in {}", name.string(), folder.string())));
}

DTypeOrParam dtype_of(const Node::Entry& entry, const Scope& scope) {
  static constexpr std::array dtypes{DType::F32, DType::F16, DType::I8, DType::U8, DType::I32};
  const std::string& text = cases::to_text(*entry.value, {entry.key, "dtype"});
  std::vector<std::string> known;
  for (const DType dtype : dtypes) {
    if (name_of(dtype) == text) return dtype;
    known.emplace_back(name_of(dtype));
  }
  const auto choice = scope.choices.find(text);
  if (choice == scope.choices.end())
    throw cases::unknown_name(*entry.value, "dtype or choice parameter", text, known);
  for (const std::string& word : choice->second) {
    if (std::ranges::find(known, word) == known.end())
      throw Problem(diagnose(*entry.value, fmt::format("the choice '{}' of '{}' is no dtype", word, text)));
  }
  return text;
}

}  // namespace assay::external
