#include "harness/report/record/failure_groups.h"

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/record/compared_rows.h"
#include "harness/report/record/words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace assay {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// "x=buffer/4W4C y=buffer/4C"
Pairs pairs_of(const std::string& text) {
  Pairs pairs;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

constexpr std::size_t most_equal_traits = 2;

struct FormWords {
  std::string storage, layout;
};

/// The storage and layout of a form: "buffer/CONV2D(4C)" is in a buffer, in layout 4C.
FormWords form_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {};
  std::string layout = text.substr(slash + 1);
  const std::size_t open = layout.find('(');
  if (open != std::string::npos && layout.ends_with(')'))
    layout = layout.substr(open + 1, layout.size() - open - 2);
  const bool is_buffer = text.starts_with("buffer");
  const std::string texture = text.starts_with("texture2d") ? "a 2D texture" : "a 3D texture";
  return {is_buffer ? "a buffer" : texture, layout};
}

void add_forms(std::vector<std::string>& traits, const RowInfo& row) {
  const Pairs forms = pairs_of(row.forms);
  for (const auto& [tensor, form] : forms) traits.push_back(tensor + " in " + form_of(form).storage);
  for (const auto& [tensor, form] : forms) traits.push_back(tensor + " in " + form_of(form).layout);
  if (forms.size() < 2) return;
  const bool alike = form_of(forms.front().second).layout == form_of(forms.back().second).layout;
  traits.push_back(forms.front().first + " and " + forms.back().first +
                   (alike ? " in the same layout" : " in different layouts"));
}

std::vector<long long> dims_of(const std::string& shape) {
  std::vector<long long> dims;
  std::istringstream words(shape);
  for (std::string dim; std::getline(words, dim, 'x');) {
    if (!dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos && dim.size() < 18)
      dims.push_back(std::stoll(dim));
  }
  return dims;
}

void add_shape(std::vector<std::string>& traits, const RowInfo& row) {
  const std::vector<long long> dims = dims_of(row.shape);
  if (dims.empty()) return;
  const auto of_four = [&](const char* name, long long size) {
    traits.push_back(std::string(name) +
                     (size % 4 == 0 ? " that is a multiple of 4" : " that is not a multiple of 4"));
  };
  of_four("a last dim", dims.back());
  if (dims.size() >= 2) of_four("a second-last dim", dims[dims.size() - 2]);
  if (dims.size() >= 3) of_four("a third-last dim", dims[dims.size() - 3]);
  if (dims.size() >= 2) traits.emplace_back(dims.front() > 1 ? "a first dim above 1" : "a first dim of 1");
  traits.push_back("rank " + std::to_string(dims.size()));
}

void add_pairs(std::vector<std::string>& traits, const std::string& prefix, const std::string& text) {
  for (const auto& [name, value] : pairs_of(text)) {
    std::string trait = prefix;
    trait.append(name).append(" = ").append(value);
    traits.push_back(std::move(trait));
  }
}

}  // namespace

std::vector<std::string> traits_of(const RowInfo& row) {
  std::vector<std::string> traits;
  add_forms(traits, row);
  traits.push_back("impl " + row.impl);
  traits.push_back("dtype " + row.dtype);
  const std::string tunables = all_tunables(row.tune, row.tuned);
  add_pairs(traits, "tuned ", tunables);
  if (tunables.empty()) traits.emplace_back("nothing tuned");
  add_shape(traits, row);
  add_pairs(traits, "", row.params);
  traits.push_back("mode " + row.mode);
  if (!row.cache.empty()) traits.push_back("a " + row.cache + " cache");
  add_pairs(traits, "fill ", row.fill);
  if (row.tokens > 0) traits.emplace_back(row.tokens == 1 ? "one token" : "several tokens");
  traits.push_back("op " + row.op);
  traits.push_back("case name " + row.name);
  return traits;
}

namespace {

bool is_bad(Status status) {
  return class_of(status) != StatusClass::Fine;
}

/// Whether the row says anything about its kernel: rows that never ran, or cannot run, do not.
bool was_tried(Status status) {
  return status == Status::Pass || (is_bad(status) && status != Status::Missing);
}

/// The text with each number replaced by one "#".
std::string without_numbers(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_digit && plain.ends_with('#')) continue;
    plain += is_digit ? '#' : c;
  }
  return plain;
}

/// The name of the diagnosis or metric; empty: the row was not judged.
std::string judged_kind(const Record& record) {
  if (record.accuracy && record.accuracy->diagnosis)
    return std::string(diagnosis_name(record.accuracy->diagnosis->word));
  if (record.accuracy && !record.accuracy->metric.empty())
    return std::string(metric_name(record.accuracy->metric));
  return "";
}

std::string story_of(const Record& record, const std::string& kind) {
  if (record.accuracy && record.accuracy->diagnosis) return first_line(record.accuracy->diagnosis->text);
  std::string reason = first_line(record.reason);
  if (reason.empty() && record.accuracy) reason = first_line(describe(*record.accuracy));
  return reason == kind ? "" : reason;
}

using Rows = std::vector<const RowOutcome*>;
using Numbers = std::vector<std::size_t>;  ///< numbers of traits, ascending

/// The traits of all rows that were tried, each text once.
class TraitTable {
 public:
  explicit TraitTable(std::span<const RowOutcome> rows) {
    for (const RowOutcome& row : rows) {
      if (!was_tried(row.status)) continue;
      rows_.push_back(&row);
      traits_.push_back(sorted(numbers_of(row)));
    }
  }

  /// Numbers of a row's traits, those most likely to matter first.
  Numbers numbers_of(const RowOutcome& row) {
    Numbers numbers;
    for (const std::string& trait : traits_of(*row.info))
      numbers.push_back(numbers_.try_emplace(trait, numbers_.size()).first->second);
    return numbers;
  }

  std::string text_of(std::size_t number) const {
    const auto found =
        std::ranges::find_if(numbers_, [&](const auto& entry) { return entry.second == number; });
    return found->first;
  }

  static Numbers sorted(Numbers numbers) {
    std::ranges::sort(numbers);
    return numbers;
  }

  const Rows& rows() const { return rows_; }
  bool has(std::size_t row, const Numbers& wanted) const {
    return std::ranges::includes(traits_[row], wanted);
  }

 private:
  Rows rows_;
  std::vector<Numbers> traits_;
  std::map<std::string, std::size_t> numbers_;
};

/// The rows of a group's ops, from which the group must be distinguished: places in the table.
class Related {
 public:
  Related(const TraitTable& table, const Rows& group) : table_(table) {
    std::set<std::string> ops;
    for (const RowOutcome* row : group) ops.insert(row->info->op);
    for (std::size_t i = 0; i < table.rows().size(); ++i) {
      if (ops.contains(table.rows()[i]->info->op)) places_.push_back(i);
    }
  }

  std::size_t count() const { return places_.size(); }
  /// Places of the rows that have the traits.
  Numbers with(const Numbers& wanted) const {
    Numbers rows;
    std::ranges::copy_if(places_, std::back_inserter(rows),
                         [&](std::size_t place) { return table_.has(place, wanted); });
    return rows;
  }
  bool has_passing() const {
    return std::ranges::any_of(
        places_, [&](std::size_t place) { return table_.rows()[place]->status == Status::Pass; });
  }

 private:
  const TraitTable& table_;
  Numbers places_;
};

/// Groups, in their order, of which it is said what their rows share.
constexpr std::size_t most_described_groups = 200;

/// Traits that all rows of a group share, those most likely to matter first.
Numbers common_traits(const Rows& group, TraitTable& table) {
  Numbers common = table.numbers_of(*group.front());
  for (const RowOutcome* row : group) {
    const Numbers own = TraitTable::sorted(table.numbers_of(*row));
    std::erase_if(common, [&](std::size_t trait) { return !std::ranges::binary_search(own, trait); });
  }
  return common;
}

/// Traits that a group shares, and the rows of its ops that have them.
struct Choice {
  Numbers traits;  ///< ascending; empty: none
  Numbers rows;    ///< places among the related rows
};

/// Finds the one or two traits of a group that the fewest other rows have. Traits are named only if the group
/// would not have them by chance: if enough rows exist without them, any of which could have been in the
/// group. As many traits are tried, one of them often fits a few rows.
class TellingTraits {
 public:
  TellingTraits(Numbers common, const Related& related, std::size_t group)
      : common_(std::move(common)), related_(related), group_(group) {}

  Choice found() {
    for (const std::size_t trait : common_) try_traits({trait});
    const Choice single = best_;
    constexpr std::size_t most_in_pairs = 12;
    const std::size_t count = std::min(common_.size(), most_in_pairs);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j) try_traits({common_[i], common_[j]});
    }
    // A second trait that excludes only a few more rows says nothing.
    if (best_.traits.empty()) return best_;
    Choice chosen =
        10 * best_.rows.size() <= 9 * single.rows.size() || single.traits.empty() ? best_ : single;
    return is_no_chance(chosen) ? chosen : Choice{};
  }

  /// Other single traits that exactly the same rows have: nothing distinguishes them from the chosen ones.
  Numbers equal_to(const Choice& chosen) const {
    Numbers equal;
    for (const std::size_t trait : common_) {
      const bool is_chosen = std::ranges::find(chosen.traits, trait) != chosen.traits.end();
      if (!is_chosen && related_.with({trait}) == chosen.rows) equal.push_back(trait);
    }
    return equal;
  }

 private:
  void try_traits(Numbers traits) {
    traits = TraitTable::sorted(std::move(traits));
    Numbers rows = related_.with(traits);
    if (rows.size() == related_.count()) return;
    const std::size_t least = best_.traits.empty() ? related_.count() : best_.rows.size();
    if (rows.size() < least) best_ = {std::move(traits), rows};
    tried_.insert(std::move(rows));
  }

  /// Whether the group has the traits by chance in less than one of sixteen reports, with all that were
  /// tried.
  bool is_no_chance(const Choice& choice) const {
    constexpr double least_bits = 4;
    const double bits = log2_choices(related_.count(), group_) - log2_choices(choice.rows.size(), group_);
    return bits - std::log2(static_cast<double>(tried_.size())) >= least_bits;
  }

  Numbers common_;
  const Related& related_;
  std::size_t group_;
  Choice best_;
  std::set<Numbers> tried_;  ///< sets of rows that a trait or two distinguish
};

std::string joined_traits(const Numbers& traits, const TraitTable& table, const char* first,
                          const char* others) {
  std::string text;
  for (const std::size_t trait : traits) text += (text.empty() ? first : others) + table.text_of(trait);
  return text;
}

void add_example(FailureGroup& group, std::span<const RowOutcome> all) {
  const auto is_new = [&](std::size_t place) { return all[place].is_new; };
  group.is_new = static_cast<std::size_t>(std::ranges::count_if(group.rows, is_new));
  const auto newest = std::ranges::find_if(group.rows, is_new);
  group.example_row = newest == group.rows.end() ? group.rows.front() : *newest;
  const RowOutcome& row = all[group.example_row];
  const std::string mode = row.info->mode == "perf" ? " (perf)" : "";
  group.example = (group.rows.size() > 1 ? "such as " : "") + row.info->id + mode;
  group.story = row.failure->story;
}

/// The group of the rows at `places`, without what its rows share.
FailureGroup plain_group(std::vector<std::size_t> places, std::span<const RowOutcome> all) {
  const RowOutcome& first = all[places.front()];
  FailureGroup group{.name = first.failure->group, .kind = first.failure->kind, .status = first.status};
  group.rows = std::move(places);
  add_example(group, all);
  const auto is_same_op = [&](std::size_t place) { return all[place].info->op == first.info->op; };
  if (std::ranges::all_of(group.rows, is_same_op)) group.op = first.info->op;
  group.alike = group.rows.size();
  return group;
}

/// The group of the rows at `places`.
FailureGroup described(std::vector<std::size_t> places, std::span<const RowOutcome> all, TraitTable& table) {
  FailureGroup group = plain_group(std::move(places), all);
  Rows rows;
  for (const std::size_t place : group.rows) rows.push_back(&all[place]);
  const RowOutcome& first = *rows.front();
  const Related related(table, rows);
  group.alike = std::max(related.count(), rows.size());
  // A single row has countless traits that no other row has.
  // Rows that never ran share when it was their turn, which is no trait.
  if (first.status != Status::Missing && related.has_passing() && rows.size() > 1) {
    TellingTraits telling(common_traits(rows, table), related, rows.size());
    if (const Choice choice = telling.found(); !choice.traits.empty()) {
      Numbers equal = telling.equal_to(choice);
      if (equal.size() > most_equal_traits) equal.resize(most_equal_traits);
      group.shared = joined_traits(choice.traits, table, "with ", " and ") +
                     joined_traits(equal, table, " (the same rows: ", ", ") + (equal.empty() ? "" : ")");
      group.alike = choice.rows.size();
      group.without = related.count() - group.alike;
    }
  }
  return group;
}

}  // namespace

std::optional<FailureWords> failure_of(const Record& record) {
  if (!is_bad(record.status)) return std::nullopt;
  const std::string judged = judged_kind(record);
  const std::string kind = judged.empty() ? first_line(record.reason) : judged;
  const std::string plain = judged.empty() ? without_numbers(kind) : kind;
  return FailureWords{std::string(name_of(record.status)) + (plain.empty() ? "" : " " + plain), kind,
                      story_of(record, kind)};
}

bool has_failed(Status status) {
  return is_bad(status) || status == Status::ExpectedFail;
}

RowOutcome outcome_of(const Record& record) {
  return {&record.info, record.status, failure_of(record)};
}

std::vector<FailureGroup> failure_groups(std::span<const RowOutcome> rows) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].failure) by_name[rows[i].failure->group].push_back(i);
  }
  if (by_name.empty()) return {};
  TraitTable table(rows);
  std::vector<FailureGroup> groups;
  for (auto& [name, places] : by_name) groups.push_back(plain_group(std::move(places), rows));
  std::ranges::stable_sort(groups, [](const FailureGroup& a, const FailureGroup& b) {
    const auto rank = [](const FailureGroup& group) {
      return std::tuple(group.status != Status::Missing, group.is_new > 0, group.rows.size());
    };
    return rank(a) > rank(b);
  });
  // What a group's rows share is found by looking at all rows: not for each of thousands of reasons.
  for (FailureGroup& group : std::span(groups).first(std::min(groups.size(), most_described_groups)))
    group = described(std::move(group.rows), rows, table);
  return groups;
}

std::vector<FailureGroup> failure_groups(const RunReport& report) {
  std::vector<RowOutcome> rows;
  for (const Record& record : report.records) rows.push_back(outcome_of(record));
  return failure_groups(rows);
}

std::string listing_option(const FailureGroup& group) {
  constexpr std::size_t longest = 60;
  std::string name = valid_utf8(group.name);
  if (columns_of(name) > longest) {
    name = shortened(name, longest);
    name.replace(name.size() - 3, 3, "*");
  }
  // In a pattern, `?` is any character: also those that would end the quotes or the line.
  for (char& c : name) c = c == '\'' || static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return "--group 'failure=" + name + "'";
}

std::string group_text(const FailureGroup& group) {
  const std::size_t count = group.rows.size();
  // Rows that never ran are no part of the rows that were judged.
  const bool is_missing = group.status == Status::Missing;
  std::string text = std::to_string(count) + (is_missing ? "" : " of " + std::to_string(group.alike));
  text += (is_missing ? count : group.alike) == 1 ? " row" : " rows";
  if (!group.op.empty()) text += " of " + group.op;
  if (!group.shared.empty())
    text += " " + group.shared + ", none of " + std::to_string(group.without) + " without";
  if (!group.kind.empty()) text += ": " + group.kind;
  return text;
}

}  // namespace assay
