#include "harness/cases/expansion/case_expansion.h"

#include "harness/base/text.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/expansion/load_options.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/cases/yaml/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::cases {
namespace {

constexpr double longest_timeout_s = 86400;

template <class Enum, class Parse>
Enum to_enum(const Node::Entry& entry, const std::vector<std::string>& known, Parse parse) {
  const Spot spot{entry.key, entry.key->text};
  const std::string wanted = "one of " + fmt::format("{}, {}, {}", known[0], known[1], known[2]);
  if (!entry.value->is_scalar()) wrong_type(*entry.value, spot, wanted);
  const auto value = parse(entry.value->text);
  if (!value) throw unknown_name(*entry.key, entry.key->text, entry.value->text, known);
  return *value;
}

std::string to_name(const Node::Entry& entry) {
  const std::string& name = to_text(*entry.value, {entry.key, "name"});
  if (name.empty() || id_text(name) != name || name.find('.') != std::string::npos) {
    throw Problem(diagnose(*entry.key, fmt::format("a name may have only letters, digits and '_', got '{}'",
                                                   printable_line(name))));
  }
  return name;
}

double to_timeout(const Node::Entry& entry) {
  const double seconds = to_number(*entry.value, {entry.key, "timeout"});
  if (seconds > 0 && seconds <= longest_timeout_s) return seconds;
  throw Problem(
      diagnose(*entry.key, fmt::format("'timeout' must be more than 0 and at most {} seconds, got {}",
                                       longest_timeout_s, seconds)));
}

/// Reads a key of the head and ignores any other.
void read_head_key(const Node::Entry& entry, CaseHead& head) {
  const std::string& key = entry.key->text;
  if (is_head_key(key) && entry.value->is_map() && entry.value->find("each") != nullptr) {
    throw Problem(
        diagnose(*entry.key, fmt::format("'{}' applies to the whole case, so it cannot have 'each'", key)));
  }
  if (key == "name") {
    head.name = to_name(entry);
  } else if (key == "mode") {
    head.mode = to_enum<Mode>(entry, {"accu", "perf", "both"}, parse_mode);
  } else if (key == "tier") {
    head.tier = to_enum<Tier>(entry, {"smoke", "ci", "nightly"}, parse_tier);
  } else if (key == "cache") {
    head.caches = to_enum<Caches>(entry, {"hot", "cold", "both"}, parse_caches);
  } else if (key == "timeout") {
    head.timeout_s = to_timeout(entry);
  }
}

constexpr std::uint64_t most_values = 1000000;  // over all alternatives of one key
/// The limit of points per file that are errors: few of their messages are shown, and each takes longer than
/// a good point.
constexpr std::uint64_t most_failed = 10000;

/// Returns why a point is refused whose id was first used at `first`.
std::string equal_ids(const Case& point, const SourceLocation& first) {
  const SourceLocation& own = point.where;
  if (first.file == own.file && first.line == own.line && first.column == own.column) {
    return fmt::format(
        "two points of this case have the id {}: remove the repeated value, or name one in `sets:`",
        point.id);
  }
  return fmt::format("the id {} is already used at {}:{}: rename one of them", point.id, first.file,
                     first.line);
}

/// Returns why the last points of a case are not read.
std::string left_unread(const CaseHead& head, std::uint64_t points) {
  return fmt::format("over {} cases of this file have errors: the last {} of '{}' are not read", most_failed,
                     points, head.name);
}

/// Adds the key itself if it is known, else the one that was probably meant.
void add_nearest(const std::string& key, std::span<const std::string> known, std::set<std::string>& keys) {
  const bool is_known = std::ranges::find(known, key) != known.end();
  const std::string meant = is_known ? key : nearest(key, known);
  if (!meant.empty()) keys.insert(meant);
}

}  // namespace

const std::vector<std::string>& head_keys() {
  static const std::vector<std::string> keys{"name", "mode", "tier", "cache", "timeout"};
  return keys;
}

CaseHead read_case_head(const Node& node, const std::vector<Node::Entry>& entries, Problems& problems) {
  CaseHead head;
  head.caret = &node;
  const Node::Entry* cache = nullptr;
  bool has_name = false, knows_mode = true;
  for (const Node::Entry& entry : entries) {
    if (entry.key->text == "name") {
      head.caret = entry.key;
      has_name = true;
    }
    if (entry.key->text == "cache") cache = &entry;
    const bool is_good = problems.attempt([&] { read_head_key(entry, head); });
    if (entry.key->text == "mode") knows_mode = is_good;
  }
  if (cache != nullptr && knows_mode && head.mode == Mode::Accu) {
    problems.add(
        Problem(diagnose(*cache->key, "'cache' applies to times, and a case of mode accu has none")));
  }
  if (!has_name) problems.add(Problem(diagnose(node, "a case needs a 'name'")));
  head.where = location_of(*head.caret);
  return head;
}

CaseExpansion::CaseExpansion(LoadState& state, const Op& op, const Sets& sets,
                             std::shared_ptr<const Op> own_op)
    : state_(state),
      op_(op),
      own_op_(std::move(own_op)),
      expander_(sets),
      reader_(op, sets),
      case_keys_(head_keys()) {
  case_keys_.insert(case_keys_.end(), reader_.keys().begin(), reader_.keys().end());
}

void CaseExpansion::set_defaults(const Node& defaults) {
  std::vector<std::string> known = case_keys_;
  std::erase(known, "name");
  state_.reporter.add_flaws(defaults);
  for (const Node::Entry& entry : defaults.entries) {
    const bool is_known =
        entry.key->is_scalar() && std::find(known.begin(), known.end(), entry.key->text) != known.end();
    if (is_known) defaults_.push_back(entry);
    if (!is_known && entry.key->is_scalar() && entry.key->text != "<<") {
      state_.reporter.add(unknown_name(*entry.key, "default", entry.key->text, known));
      if (!is_head_key(nearest(entry.key->text, known))) add_nearest(entry.key->text, known, bad_defaults_);
    }
  }
}

void CaseExpansion::add(const Node& node) {
  Faults faults;
  faults.bad_keys = bad_defaults_;
  faults.problems.attempt([&] { read(node, faults); });
  report_unknown(faults);  // in case no point was built, which would have reported them
  for_each_flaw(node, [&](const Flaw& flaw) {
    faults.problems.add(Problem(diagnose(flaw)));
    return true;
  });
  try {
    faults.problems.settle();
  } catch (const Problem& problem) {
    state_.reporter.add(problem);
  }
}

void CaseExpansion::read(const Node& node, Faults& faults) {
  if (!node.is_map())
    throw Problem(diagnose(node, "a case must be a map with a 'name', got " + describe(node)));
  std::vector<Node::Entry> entries = known_entries(node, faults);
  replace_values(node, entries, faults);
  const CaseHead head = read_head(node, entries, faults);
  // Everything is counted before anything is expanded.
  std::vector<Source> all = passing(sources(entries), faults, [&](const Source& s) { extent_of(s); });
  check_product(head, all);
  all = passing(std::move(all), faults, [&](const Source& s) { check_values(s); });
  std::vector<Factor> factors;
  for (const Source& source : all) factors.push_back(make_factor(source, faults));
  add_points(head, Product(std::move(factors)), faults);
}

/// Returns the case's entries and the defaults that it does not override, without entries whose keys are
/// unreadable or unknown.
std::vector<Node::Entry> CaseExpansion::known_entries(const Node& node, Faults& faults) const {
  std::vector<Node::Entry> entries;
  for (const Node::Entry& entry : defaults_) {
    if (node.find_entry(entry.key->text) == nullptr) entries.push_back(entry);
  }
  faults.is_broken = node.flawed;
  std::set<std::string_view> seen;
  bool hides_keys = false;  // an unreadable entry may stand for any of them
  for (const Node::Entry& entry : node.entries) {
    if (!entry.key->is_scalar() || entry.key->is_plain("<<")) {
      hides_keys = true;
      continue;
    }
    if (!seen.insert(entry.key->text).second) continue;
    if (std::find(case_keys_.begin(), case_keys_.end(), entry.key->text) != case_keys_.end()) {
      entries.push_back(entry);
      continue;
    }
    faults.is_broken = true;
    faults.unknown.push_back(entry);
    add_nearest(entry.key->text, case_keys_, faults.bad_keys);
  }
  for (const std::string& key : case_keys_) {
    if (hides_keys && !seen.contains(key)) faults.bad_keys.insert(key);
  }
  return entries;
}

/// Puts the values of --set in the place of a case's own.
void CaseExpansion::replace_values(const Node& node, std::vector<Node::Entry>& entries, Faults& faults) {
  replaced_.clear();
  const Node::Entry* name = node.find_entry("name");
  const ReplacedValues* values = state_.options.replaced.get();
  if (values == nullptr || !values->apply_to(location_of(name == nullptr ? node : *name->key))) return;
  for (const Node::Entry& value : values->entries()) {
    const std::string& key = value.key->text;
    if (std::ranges::find(case_keys_, key) == case_keys_.end()) {
      faults.is_broken = true;
      faults.problems.add(unknown_name(*value.key, "key", key, case_keys_));
      continue;
    }
    std::erase_if(entries, [&](const Node::Entry& entry) { return entry.key->text == key; });
    entries.push_back(value);
    replaced_.insert(key);
  }
}

/// Whether a value that this source gives is replaced by another source.
bool CaseExpansion::is_replaced(const std::string& key, const Source& source) const {
  return replaced_.contains(key) && source.key->text != key;
}

/// Adds the keys that a value would have set, as far as this is known, when none of it can be used.
void CaseExpansion::add_keys_meant(const std::string& key, const Node& value,
                                   std::set<std::string>& keys) const {
  keys.insert(key);
  if (key != "with" && key != "qparams") return;
  if (value.is_map() && value.find("each") != nullptr) {
    for (const Node* item : value.find("each")->items) add_keys_meant(key, *item, keys);
  } else if (value.is_map()) {
    for (const Node::Entry& entry : value.entries) {
      if (entry.key->is_scalar()) add_nearest(entry.key->text, case_keys_, keys);
    }
  } else {
    keys.insert(case_keys_.begin(), case_keys_.end());
  }
}

CaseHead CaseExpansion::read_head(const Node& node, const std::vector<Node::Entry>& entries,
                                  Faults& faults) const {
  Problems problems;
  CaseHead head = read_case_head(node, entries, problems);
  if (!faults.problems.attempt([&] { problems.settle(); })) faults.is_broken = true;
  head.op = &op_;
  head.own_op = own_op_;
  head.seed = state_.options.seed.value_or(0);
  return head;
}

std::vector<CaseExpansion::Source> CaseExpansion::sources(const std::vector<Node::Entry>& entries) const {
  std::vector<Source> sources;
  for (const Node::Entry& entry : entries) {
    if (is_head_key(entry.key->text)) continue;
    if (entry.key->text != "with" || !entry.value->is_list()) {
      sources.push_back({entry.key, entry.value});
      continue;
    }
    for (const Node* group : entry.value->items) sources.push_back({entry.key, group});
  }
  return sources;
}

/// Returns the sources that pass a check; the keys of the others become bad.
template <class Check>
std::vector<CaseExpansion::Source> CaseExpansion::passing(std::vector<Source> sources, Faults& faults,
                                                          Check check) {
  std::erase_if(sources, [&](const Source& source) {
    const bool is_good = !source.value->flawed && faults.problems.attempt([&] { check(source); });
    if (!is_good) add_keys_meant(source.key->text, *source.value, faults.bad_keys);
    return !is_good;
  });
  return sources;
}

Extent CaseExpansion::extent_of(const Source& source) {
  return expander_.extent(*source.value, style_of(source.key->text));
}

void CaseExpansion::check_product(const CaseHead& head, const std::vector<Source>& sources) {
  std::uint64_t product = 1;
  std::string factors;
  for (const Source& source : sources) {
    const std::uint64_t alternatives = extent_of(source).alternatives;
    product = saturating_multiply(product, alternatives);
    if (alternatives > 1)
      factors += fmt::format("{}{} {}", factors.empty() ? "" : " x ", source.key->text, alternatives);
  }
  refuse_product(head, product, factors);
}

void CaseExpansion::check_values(const Source& source) {
  const Extent extent = extent_of(source);
  const std::uint64_t values = saturating_multiply(extent.alternatives, extent.nodes);
  if (values > most_values) {
    throw Problem(diagnose(*source.key, fmt::format("'{}' expands to {} values, more than the limit of {}",
                                                    source.key->text, values, most_values)));
  }
}

void CaseExpansion::refuse_product(const CaseHead& head, std::uint64_t product,
                                   const std::string& factors) const {
  const auto limit = static_cast<std::uint64_t>(std::max<std::int64_t>(state_.options.max_cases, 0));
  if (product > limit) {
    throw Problem(
        diagnose(*head.caret, fmt::format("case '{}' expands to {} cases ({}), more than the limit of {}",
                                          head.name, product, factors, limit)));
  }
  const std::uint64_t before = state_.points;
  if (before + product > limit) {
    throw Problem(diagnose(
        *head.caret, fmt::format("case '{}' adds {} cases to the {} already there, more than the limit of {}",
                                 head.name, product, before, limit)));
  }
}

Factor CaseExpansion::make_factor(const Source& source, Faults& faults) {
  Factor factor{source.key->text, {}};
  const bool is_axis = expander_.is_axis(*source.value, style_of(factor.key));
  for (const Alternative& alternative : expander_.expand(*source.value, style_of(factor.key))) {
    if (factor.key == "impl" && alternative.value->is_plain("all")) {
      for (const Impl& impl : op_.impls) {
        factor.choices.push_back({{{factor.key, {source.key, source.value}, &impl}}, {}, {}});
      }
      continue;
    }
    factor.choices.push_back(read_choice(source, alternative, is_axis, faults));
  }
  return factor;
}

Choice CaseExpansion::read_choice(const Source& source, const Alternative& alternative, bool is_axis,
                                  Faults& faults) {
  const bool points_at_item = is_axis && !alternative.value->is_null();
  const Origin origin{points_at_item ? alternative.value : source.key, alternative.value};
  Choice choice{{}, alternative.segments, {}};
  const std::string& key = source.key->text;
  const bool is_read = faults.problems.attempt([&] {
    choice.settings = reader_.read(key, origin);
    std::erase_if(choice.settings, [&](const Setting& setting) { return is_replaced(setting.key, source); });
  });
  if (!is_read) {
    std::set<std::string> bad_keys;
    add_keys_meant(key, *alternative.value, bad_keys);
    choice.bad_keys.assign(bad_keys.begin(), bad_keys.end());
  }
  return choice;
}

void CaseExpansion::add_points(const CaseHead& head, const Product& product, Faults& faults) {
  refuse_product(head, product.size(), product.text());
  if (!faults.is_broken) state_.cases.expect(product.size());
  PointBuilder builder(head, state_.npy_files, state_.common);
  for (std::uint64_t index = 0; index < product.size(); ++index) {
    ++state_.points;
    const std::string kind = kind_of(head, product, index);
    if (is_unwanted(kind)) continue;
    PointChoice choice = product.at(index);
    choice.bad_keys.insert(choice.bad_keys.end(), faults.bad_keys.begin(), faults.bad_keys.end());
    const bool is_useless = faults.is_broken || !choice.bad_keys.empty();
    // A useless point is built only to find further errors.
    if (is_useless && ++useless_points_ > most_failed) {
      if (faults.is_broken) break;
      continue;
    }
    if (!add_point(builder, head, choice, kind, faults) && ++failed_points_ > most_failed) {
      faults.problems.add(Problem(diagnose(*head.caret, left_unread(head, product.size() - index - 1))));
      break;
    }
  }
  if (!builder.inputs().empty()) inputs_ = builder.inputs();
  report_unknown(faults);
}

/// Adds a case's point; returns whether it has no error.
bool CaseExpansion::add_point(PointBuilder& builder, const CaseHead& head, const PointChoice& choice,
                              const std::string& kind, Faults& faults) {
  return faults.problems.attempt([&] {
    std::optional<Case> point = builder.build(choice);
    if (!point || faults.is_broken) return;
    const Case* first = state_.cases.find(point->id);
    // Points may differ only in a value that is replaced.
    if (first != nullptr && !replaced_.empty() && first->data_key == point->data_key) return;
    if (first == nullptr && state_.options.kinds) state_.options.kinds->of_id.emplace(point->id, kind);
    if (first != nullptr) throw Problem(diagnose(*head.caret, equal_ids(*point, first->where)));
    state_.cases.add(std::move(*point));
  });
}

/// The kind of a point, if somebody needs it.
std::string CaseExpansion::kind_of(const CaseHead& head, const Product& product, std::uint64_t index) const {
  if (!state_.options.kinds) return "";
  const auto is_left_out = [&](const std::string& key) {
    return state_.options.kinds->left_out.contains(key);
  };
  return fmt::format("{}:{} {}", head.where->file, head.where->line, product.choices_of(index, is_left_out));
}

bool CaseExpansion::is_unwanted(const std::string& kind) const {
  const PointKinds* kinds = state_.options.kinds.get();
  return kinds != nullptr && !kinds->wanted.empty() && !kinds->wanted.contains(kind);
}

void CaseExpansion::report_unknown(Faults& faults) const {
  for (const Node::Entry& entry : faults.unknown) {
    const std::string& key = entry.key->text;
    if (std::ranges::find(inputs_, key) == inputs_.end()) {
      faults.problems.add(unknown_name(*entry.key, "key", key, case_keys_));
    } else {
      const std::string value = as_number(*entry.value) ? entry.value->text : "NUMBER";
      faults.problems.add(Problem(diagnose(
          *entry.key,
          fmt::format("unknown key '{}': for {} here it is an input tensor, whose values 'fill' sets", key,
                      op_.name),
          fmt::format("fill: {{{}: {{constant: {}}}}}", key, value))));
    }
  }
  faults.unknown.clear();
}

}  // namespace assay::cases
