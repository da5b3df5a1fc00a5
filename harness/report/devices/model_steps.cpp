#include "harness/report/devices/model_steps.h"

#include "harness/base/clock.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/words.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

namespace assay {
namespace {

using Rows = std::vector<const Record*>;
using Words = std::vector<std::pair<std::string, std::string>>;  // name and value, in the order of the text
using Names = std::set<std::string>;

// Words are separated by blanks, which a value may contain as well.
Words words_of(const std::string& params) {
  Words words;
  std::istringstream stream(params);
  for (std::string part; stream >> part;) {
    const auto equals = part.find('=');
    if (equals != part.npos) {
      words.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    } else if (!words.empty()) {
      words.back().second += ' ' + part;
    }
  }
  return words;
}

// The parameter by which ops have a position: that of a step's first token.
constexpr std::string_view position_name = "start_pos";

// Tokens up to and with the last one of the row's step; nothing for an op without a position.
std::optional<std::int64_t> context_of_row(const RowInfo& info) {
  for (const auto& [name, value] : words_of(info.params)) {
    if (name != position_name) continue;
    std::int64_t position = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), position);
    if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
    return position + std::max(info.tokens, std::int64_t{1});
  }
  return std::nullopt;
}

// The words whose names `is_wanted` accepts, without words that have no value.
template <class IsWanted>
std::string text_of(const Words& words, IsWanted is_wanted) {
  std::string text;
  for (const auto& [name, value] : words) {
    if (value.empty() || !is_wanted(name)) continue;
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(value);
  }
  return text;
}

// Names of the parameters that have several values in these rows of one op. A row that lacks one has the op's
// own choice there.
Names differing(const Rows& rows) {
  std::map<std::string, std::multiset<std::string>> values;
  for (const Record* row : rows) {
    for (const auto& [name, value] : words_of(row->info.params)) values[name].insert(value);
  }
  Names names;
  for (const auto& [name, of_name] : values) {
    if (of_name.count(*of_name.begin()) < rows.size()) names.insert(name);
  }
  return names;
}

// A row of a chain that has no program (SKIPPED) has no plan: other rows of that chain have.
Names names_of_chains(const RunReport& report) {
  Names names;
  for (const Record& record : report.records) {
    if (record.chain) names.insert(record.info.op);
  }
  return names;
}

bool is_timed_row_of_a_model(const RowInfo& info) {
  return info.mode == "perf" && !info.model.empty();
}

// The settings by model and op: parameters that differ between rows with the same layer, number of tokens and
// context. What grows with the context, such as the rows of a cache, is none.
std::map<std::pair<std::string, std::string>, Names> settings_of(const Rows& rows) {
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t, std::optional<std::int64_t>>, Rows>
      of_layer;
  for (const Record* row : rows) {
    const RowInfo& info = row->info;
    of_layer[{info.model, info.op, info.layer, info.tokens, context_of_row(info)}].push_back(row);
  }
  std::map<std::pair<std::string, std::string>, Names> settings;
  for (const auto& [key, of_one] : of_layer) {
    settings[{std::get<0>(key), std::get<1>(key)}].merge(differing(of_one));
  }
  return settings;
}

// A step without its layers.
ModelStep step_of(const RowInfo& info, const Names& settings) {
  return {.model = info.model,
          .tokens = info.tokens,
          .context = context_of_row(info),
          .op = info.op,
          .dtype = info.dtype,
          .cache = info.cache == "cold" ? "cold" : "hot",
          .shaders = info.shaders,
          .settings = text_of(words_of(info.params),
                              [&](const std::string& name) { return settings.contains(name); })};
}

auto order_of(const ModelStep& step) {
  return std::tie(step.model, step.tokens, step.context, step.op, step.dtype, step.cache, step.shaders,
                  step.settings);
}

struct StepOrder {
  bool operator()(const ModelStep& a, const ModelStep& b) const { return order_of(a) < order_of(b); }
};

std::map<ModelStep, Rows, StepOrder> rows_by_step(const Rows& rows) {
  std::map<ModelStep, Rows, StepOrder> steps;
  const auto settings = settings_of(rows);
  for (const Record* row : rows) {
    steps[step_of(row->info, settings.at({row->info.model, row->info.op}))].push_back(row);
  }
  return steps;
}

// The first row of each of a model's layers in the report, in any mode.
Rows layers_of(const RunReport& report, const std::string& model) {
  Rows firsts;
  Names seen;
  for (const Record& record : report.records) {
    const RowInfo& info = record.info;
    if (info.model == model && !info.layer.empty() && seen.insert(info.layer).second)
      firsts.push_back(&record);
  }
  return firsts;
}

// Smaller is better: rows that passed first, then the impl that the op chooses, then the fastest.
auto rank_of(const Record* row) {
  const bool passed = has_figures(row);
  return std::tuple(!passed, row->info.impl != "auto", passed ? row->perf->time_us_p50 : 0);
}

StepLayer layer_of(const Record& first, const Rows& step_rows, const Names& own_params) {
  StepLayer layer{.name = first.info.layer};
  for (const Record* row : step_rows) {
    if (row->info.layer == layer.name) layer.others.push_back(row);
  }
  const auto best = std::ranges::min_element(layer.others, {}, rank_of);
  if (best == layer.others.end()) {
    layer.elsewhere = &first;
    return layer;
  }
  layer.row = *best;
  layer.others.erase(best);
  layer.params = text_of(words_of(layer.row->info.params),
                         [&](const std::string& name) { return own_params.contains(name); });
  if (has_figures(layer.row) && layer.row->info.calls > 0) {
    layer.step_us = layer.row->perf->time_us_p50 * static_cast<double>(layer.row->info.calls);
  }
  return layer;
}

void add_layers(ModelStep& step, const Rows& rows, const RunReport& report) {
  const Names own_params = differing(rows);
  step.params = text_of(words_of(rows.front()->info.params),
                        [&](const std::string& name) { return !own_params.contains(name); });
  for (const Record* first : layers_of(report, step.model)) {
    step.layers.push_back(layer_of(*first, rows, own_params));
  }
}

bool share_a_layer(const ModelStep& a, const ModelStep& b) {
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    if (a.layers[i].row != nullptr && b.layers[i].row != nullptr) return true;
  }
  return false;
}

std::size_t layers_with(const ModelStep& step, bool (*is_counted)(const StepLayer&)) {
  return static_cast<std::size_t>(std::ranges::count_if(step.layers, is_counted));
}

bool has_row(const StepLayer& layer) {
  return layer.row != nullptr;
}

bool has_step_time(const StepLayer& layer) {
  return layer.step_us.has_value();
}

/// Steps of one op each, for the same layers or some of them.
using Alternatives = std::vector<ModelStep>;

/// The steps of one op each, of one model, number of tokens, cache and shaders, by what they compute: steps
/// that share a layer, directly or through others, are in one group.
std::vector<Alternatives> by_layers(std::span<const ModelStep> steps) {
  std::vector<Alternatives> groups;
  for (const ModelStep& step : steps) {
    Alternatives joined;
    std::erase_if(groups, [&](const Alternatives& group) {
      if (std::ranges::none_of(group, [&](const ModelStep& other) { return share_a_layer(step, other); }))
        return false;
      joined.insert(joined.end(), group.begin(), group.end());
      return true;
    });
    joined.push_back(step);
    groups.push_back(std::move(joined));
  }
  return groups;
}

const ModelStep& best_of(const Alternatives& group) {
  return *std::ranges::max_element(group, {}, [](const ModelStep& step) {
    return std::pair(layers_with(step, has_step_time), -step.sum_us());
  });
}

std::string joined_once(const std::string& a, const std::string& b, std::string_view between) {
  if (a.empty() || b.empty() || a == b) return a.empty() ? b : a;
  return a + std::string(between) + b;
}

/// Whether `list`, joined by " + ", has the entry.
bool has_entry(const std::string& list, const std::string& entry) {
  return (" + " + list + " + ").find(" + " + entry + " + ") != std::string::npos;
}

/// `step` with the layers of `part`, which computes others.
void add_part(ModelStep& step, const ModelStep& part) {
  const auto with_op = [](const ModelStep& of) {
    return of.params.empty() || of.op.find(" + ") != of.op.npos ? of.params : of.op + ": " + of.params;
  };
  step.params = joined_once(with_op(step), with_op(part), "; ");
  step.op = joined_once(step.op, part.op, " + ");
  if (!has_entry(step.dtype, part.dtype)) step.dtype = joined_once(step.dtype, part.dtype, " + ");
  step.settings = joined_once(step.settings, part.settings, " ");
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    if (part.layers[i].row != nullptr) step.layers[i] = part.layers[i];
  }
}

/// The whole steps that steps of one op each, of one context, make up.
void combine(std::span<const ModelStep> of_one_op, std::vector<ModelStep>& whole) {
  std::vector<Alternatives> groups = by_layers(of_one_op);
  const auto most = std::ranges::max_element(groups, {}, [](const Alternatives& group) {
    std::size_t layers = 0;
    for (const ModelStep& step : group) layers = std::max(layers, layers_with(step, has_row));
    return layers;
  });
  for (ModelStep step : *most) {
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      if (group != most) add_part(step, best_of(*group));
    }
    whole.push_back(std::move(step));
  }
}

/// The steps of one op each that are parts of a step at this context, as such.
std::vector<ModelStep> at_context(std::span<const ModelStep> of_one_op, std::int64_t context) {
  std::vector<ModelStep> parts;
  for (const ModelStep& step : of_one_op) {
    if (step.context.value_or(context) != context) continue;
    parts.push_back(step);
    parts.back().context = context;
  }
  return parts;
}

/// The whole steps of each context; of none, if no part has a position.
void combine_by_context(std::span<const ModelStep> of_one_op, std::vector<ModelStep>& whole) {
  std::set<std::int64_t> contexts;
  for (const ModelStep& step : of_one_op) {
    if (step.context) contexts.insert(*step.context);
  }
  if (contexts.empty()) combine(of_one_op, whole);
  for (const std::int64_t context : contexts) combine(at_context(of_one_op, context), whole);
}

auto group_of(const ModelStep& step) {
  return std::tie(step.model, step.tokens, step.cache, step.shaders);
}

using Steps = std::span<const ModelStep>;

/// The steps of `all`, which are of one op each, that are in the same group as `one` but for their cache.
std::vector<ModelStep> of_other_cache(const ModelStep& one, Steps all) {
  std::vector<ModelStep> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const ModelStep& other) {
    return other.cache != one.cache &&
           std::tie(other.model, other.tokens, other.shaders) == std::tie(one.model, one.tokens, one.shaders);
  });
  return found;
}

bool shares_a_layer_with_any(const ModelStep& step, Steps others) {
  return std::ranges::any_of(others, [&](const ModelStep& other) { return share_a_layer(step, other); });
}

/// What makes up the steps of a group of `all`: its steps of one op each and, if they are cold, those whose
/// layers have hot rows alone. These make no step of their own.
std::vector<ModelStep> parts_of(Steps group, Steps all) {
  const std::vector<ModelStep> others = of_other_cache(group.front(), all);
  const auto is_whole = [&](const ModelStep& step) { return shares_a_layer_with_any(step, others); };
  const bool is_cold = group.front().cache == "cold";
  if (!is_cold && !others.empty() && std::ranges::none_of(group, is_whole)) return {};
  std::vector<ModelStep> parts(group.begin(), group.end());
  for (const ModelStep& other : others) {
    if (!is_cold || shares_a_layer_with_any(other, group)) continue;
    parts.push_back(other);
    parts.back().cache = group.front().cache;
  }
  return parts;
}

}  // namespace

double ModelStep::sum_us() const {
  double sum = 0;
  for (const StepLayer& layer : layers) sum += layer.step_us.value_or(0);
  return sum;
}

std::optional<double> ModelStep::at_ceilings_us() const {
  std::optional<double> us;
  for (const OpShare& share : by_op()) {
    if (share.gain_us) us = us.value_or(sum_us()) - *share.gain_us;
  }
  return us;
}

bool ModelStep::is_complete() const {
  return std::ranges::all_of(layers, has_step_time);
}

std::ptrdiff_t ModelStep::timed_layers() const {
  return std::ranges::count_if(layers, has_step_time);
}

double ModelStep::per_second() const {
  const double us = sum_us();
  return us > 0 ? static_cast<double>(std::max(tokens, std::int64_t{1})) * us_per_s / us : 0;
}

std::string ModelStep::setting() const {
  std::string text = dtype + ", " + cache;
  if (!settings.empty()) text += ", " + settings;
  if (shaders) text += ", shaders " + *shaders;
  return text;
}

std::vector<OpShare> ModelStep::by_op() const {
  std::vector<OpShare> shares;
  for (const StepLayer& layer : layers) {
    if (!layer.step_us) continue;
    auto share = std::ranges::find(shares, layer.row->info.op, &OpShare::op);
    if (share == shares.end()) share = shares.insert(share, {.op = layer.row->info.op});
    ++share->layers;
    share->us += *layer.step_us;
    if (const std::optional<double> gain = gain_us_of(layer))
      share->gain_us = share->gain_us.value_or(0) + *gain;
  }
  std::ranges::stable_sort(shares, std::ranges::greater(), &OpShare::us);
  return shares;
}

std::string why_no_row(const ModelStep& step, const StepLayer& layer) {
  const bool has_position = layer.elsewhere != nullptr && context_of_row(layer.elsewhere->info).has_value();
  return step.context && has_position ? "no timed row at context " + std::to_string(*step.context)
                                      : "no timed row";
}

std::optional<double> gain_us_of(const StepLayer& layer) {
  if (!layer.step_us || !(percent_of_peak(*layer.row->perf) > 0)) return std::nullopt;
  return us_to_gain(*layer.row);
}

double dispatches_us(const Record& row) {
  double us = 0;
  for (const DispatchShare& dispatch : row.perf->dispatches) us += dispatch.time_us;
  return us;
}

ModelSteps model_steps(const RunReport& report) {
  ModelSteps all{.report = &report};
  const std::set<std::string> chains = names_of_chains(report);
  Rows placed;
  for (const Record& record : report.records) {
    if (!is_timed_row_of_a_model(record.info)) continue;
    if (!record.info.layer.empty()) {
      placed.push_back(&record);
    } else {
      (chains.contains(record.info.op) ? all.chains : all.unplaced).push_back(&record);
    }
  }
  std::vector<ModelStep> of_one_op;
  for (const auto& [key, rows] : rows_by_step(placed)) add_layers(of_one_op.emplace_back(key), rows, report);
  std::ranges::stable_sort(of_one_op,
                           [](const ModelStep& a, const ModelStep& b) { return group_of(a) < group_of(b); });
  for (auto first = of_one_op.begin(); first != of_one_op.end();) {
    const auto last = std::find_if(first, of_one_op.end(),
                                   [&](const ModelStep& step) { return group_of(step) != group_of(*first); });
    const std::vector<ModelStep> parts = parts_of({first, last}, of_one_op);
    if (!parts.empty()) combine_by_context(parts, all.steps);
    first = last;
  }
  std::ranges::stable_sort(all.steps, StepOrder());
  return all;
}

}  // namespace assay
