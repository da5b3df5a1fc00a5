#include "harness/cases/case_expansion.h"

#include "harness/cases/case_head.h"
#include "harness/cases/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::cases {
namespace {

constexpr std::uint64_t most_values = 1000000;  // of all alternatives of one key

/// Why a point whose id was first given at `first` is refused.
std::string equal_ids(const Case& point, const SourceLocation& first) {
  const SourceLocation& own = point.where;
  if (first.file == own.file && first.line == own.line && first.column == own.column) {
    return fmt::format(
        "two points of this case have the id {}: remove the repeated value, or name one in `sets:`",
        point.id);
  }
  return fmt::format("the id {} is already that of {}:{}: give one of them another name", point.id,
                     first.file, first.line);
}

}  // namespace

CaseExpansion::CaseExpansion(LoadState& state, const Op& op, const Sets& sets)
    : state_(state), op_(op), expander_(sets), reader_(op, sets), case_keys_(head_keys()) {
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
    }
  }
}

void CaseExpansion::add(const Node& node) {
  if (node.flawed) return state_.reporter.add_flaws(node);
  try {
    if (!node.is_map())
      throw Problem(diagnose(node, "a case must be a map with a 'name', got " + describe(node)));
    if (!has_known_keys(node, case_keys_)) return;
    const std::vector<Node::Entry> entries = with_defaults(node);
    const CaseHead head = read_head(node, entries);
    const std::vector<Source> all = sources(entries);
    check_size(head, all);
    std::vector<Factor> factors;
    for (const Source& source : all) factors.push_back(make_factor(source));
    add_points(head, Product(std::move(factors)));
  } catch (const Problem& problem) {
    state_.reporter.add(problem);
  }
}

bool CaseExpansion::has_known_keys(const Node& map, const std::vector<std::string>& known) {
  bool all_known = true;
  for (const Node::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key->text) != known.end()) continue;
    state_.reporter.add(unknown_name(*entry.key, "key", entry.key->text, known));
    all_known = false;
  }
  return all_known;
}

std::vector<Node::Entry> CaseExpansion::with_defaults(const Node& node) const {
  std::vector<Node::Entry> entries;
  for (const Node::Entry& entry : defaults_) {
    if (node.find_entry(entry.key->text) == nullptr) entries.push_back(entry);
  }
  entries.insert(entries.end(), node.entries.begin(), node.entries.end());
  return entries;
}

CaseHead CaseExpansion::read_head(const Node& node, const std::vector<Node::Entry>& entries) const {
  CaseHead head = read_case_head(node, entries);
  head.op = &op_;
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

// Everything is counted before anything is expanded.
void CaseExpansion::check_size(const CaseHead& head, const std::vector<Source>& sources) {
  std::uint64_t product = 1;
  std::string factors;
  for (const Source& source : sources) {
    const Extent extent = expander_.extent(*source.value, style_of(source.key->text));
    product = saturating_multiply(product, extent.alternatives);
    if (extent.alternatives > 1) {
      factors += fmt::format("{}{} {}", factors.empty() ? "" : " x ", source.key->text, extent.alternatives);
    }
  }
  refuse_product(head, product, factors);
  for (const Source& source : sources) {
    const Extent extent = expander_.extent(*source.value, style_of(source.key->text));
    const std::uint64_t values = saturating_multiply(extent.alternatives, extent.nodes);
    if (values > most_values) {
      throw Problem(diagnose(*source.key, fmt::format("'{}' expands to {} values, more than the limit of {}",
                                                      source.key->text, values, most_values)));
    }
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
  const std::uint64_t before = state_.cases.size();
  if (before + product > limit) {
    throw Problem(
        diagnose(*head.caret, fmt::format("case '{}' brings {} cases to the {} there are already, more than "
                                          "the limit of {}",
                                          head.name, product, before, limit)));
  }
}

Factor CaseExpansion::make_factor(const Source& source) {
  Factor factor{source.key->text, {}};
  const bool is_axis = expander_.is_axis(*source.value, style_of(factor.key));
  for (const Alternative& alternative : expander_.expand(*source.value, style_of(factor.key))) {
    if (factor.key == "impl" && alternative.value->is_plain("all")) {
      for (const Impl& impl : op_.impls) {
        factor.choices.push_back({{{factor.key, {source.key, source.value}, &impl}}, {}});
      }
      continue;
    }
    factor.choices.push_back(read_choice(source, alternative, is_axis));
  }
  return factor;
}

Choice CaseExpansion::read_choice(const Source& source, const Alternative& alternative, bool is_axis) {
  const bool points_at_item = is_axis && !alternative.value->is_null();
  const Origin origin{points_at_item ? alternative.value : source.key, alternative.value};
  try {
    return {reader_.read(source.key->text, origin), alternative.segments};
  } catch (const Problem& problem) {
    state_.reporter.add(problem);
    return {{}, {}, false};
  }
}

void CaseExpansion::add_points(const CaseHead& head, const Product& product) {
  refuse_product(head, product.size(), product.text());
  state_.cases.expect(product.size());
  PointBuilder builder(head, state_.npy_files, state_.common);
  for (std::uint64_t index = 0; index < product.size(); ++index) {
    if (const auto choice = product.at(index)) add_point(builder, head, *choice);
  }
}

void CaseExpansion::add_point(PointBuilder& builder, const CaseHead& head, const PointChoice& choice) {
  try {
    Case point = builder.build(choice);
    if (const Case* first = state_.cases.find(point.id))
      throw Problem(diagnose(*head.caret, equal_ids(point, first->where)));
    state_.cases.add(std::move(point));
  } catch (const Problem& problem) {
    state_.reporter.add(problem);
  }
}

}  // namespace assay::cases
