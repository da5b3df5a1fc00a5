#include "harness/cases/expansion/point.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/scalars.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace assay::cases {
namespace {

std::vector<std::string> tensor_names(const std::vector<TensorSpec>& tensors, TensorSpec::Role role) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : tensors) {
    if (tensor.role == role) names.push_back(tensor.name);
  }
  return names;
}

/// Each name once: what an op updates is an input and an output of one name.
std::vector<std::string> names_of(const std::vector<TensorSpec>& tensors) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : tensors) {
    if (std::ranges::find(names, tensor.name) == names.end()) names.push_back(tensor.name);
  }
  return names;
}

template <class T>
void check_names(const PlacedMap<T>& named, std::string_view what, const std::vector<std::string>& known) {
  Problems problems;
  for (const auto& [name, placed] : named) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      problems.add(unknown_name(*placed.origin.caret, what, name, known));
  }
  problems.settle();
}

/// Throws Error for a tensor with more elements than any may have.
void refuse_too_large(std::span<const TensorSpec> tensors) {
  for (const TensorSpec& tensor : tensors) {
    try {
      numel(tensor.shape);
    } catch (const Error& error) {
      throw Error(fmt::format("tensor '{}': {}", tensor.name, error.what()));
    }
  }
}

}  // namespace

std::optional<Case> PointBuilder::build(const PointChoice& choice) {
  point_ = {};
  bad_keys_ = choice.bad_keys;
  Problems problems;
  problems.attempt([&] { gather(choice); });
  set_plain_values();
  problems.attempt([&] { set_model(); });
  // Data that were valid for another point are valid for this one too. Everything that does not depend on an
  // error is checked.
  const bool has_data = take_known_data(choice);
  bool has_tensors = has_data;
  if (!has_data) problems.attempt([&] { has_tensors = set_params_and_tensors(); });
  const bool has_impl = !is_bad("impl") && problems.attempt([&] { set_impl(); });
  if (has_tensors && has_impl) problems.attempt([&] { set_forms(); });
  if (has_tensors && !has_data) {
    problems.attempt([&] { set_fills(); });
    problems.attempt([&] { set_expected(); });
  }
  if (has_tensors && !is_bad("expected")) problems.attempt([&] { check_tolerance(); });
  if (has_impl) problems.attempt([&] { set_tune(); });
  problems.settle();
  if (!bad_keys_.empty()) return std::nullopt;
  set_id(choice);
  if (!has_data) set_data_key();
  if (!has_data) note_data(choice);
  if (!point_.conv2d.awaits_device) exclude();
  return std::optional(std::move(point_));
}

/// A manifest's conditions may be impossible to evaluate at one point.
void PointBuilder::exclude() {
  try {
    point_.invalid = why_invalid(point_);
  } catch (const Error& error) {
    throw Problem(diagnose(*head_.caret, error.what()));
  }
}

const Setting* PointBuilder::find(std::string_view key) const {
  const auto found =
      std::ranges::find(given_, key, [](const Setting* setting) { return std::string_view(setting->key); });
  return found == given_.end() ? nullptr : *found;
}

bool PointBuilder::is_bad(std::string_view key) const {
  return std::ranges::find(bad_keys_, key) != bad_keys_.end();
}

void PointBuilder::gather(const PointChoice& choice) {
  given_.clear();
  Problems problems;
  for (const std::vector<Setting>* group : choice.settings) {
    for (const Setting& setting : *group) {
      const Setting* known = find(setting.key);
      if (known == nullptr) {
        given_.push_back(&setting);
        continue;
      }
      const SourceLocation first = location_of(*known->origin.caret);
      problems.add(Problem(
          diagnose(*setting.origin.caret, fmt::format("'{}' is given twice, first at {}:{}:{}", setting.key,
                                                      first.file, first.line, first.column))));
    }
  }
  problems.settle();
}

bool PointBuilder::take_known_data(const PointChoice& choice) {
  if (!choice.data) return false;
  const auto known = known_data_.find(*choice.data);
  if (known == known_data_.end()) return false;
  point_.params = known->second.params;
  point_.tensors = known->second.tensors;
  point_.fills = known->second.fills;
  point_.expected_files = known->second.expected_files;
  point_.data_key = known->second.data_key;
  return true;
}

void PointBuilder::note_data(const PointChoice& choice) {
  if (!choice.data) return;
  known_data_.insert({*choice.data,
                      {.params = point_.params,
                       .tensors = point_.tensors,
                       .fills = point_.fills,
                       .expected_files = point_.expected_files,
                       .data_key = point_.data_key}});
}

template <class T>
const T* PointBuilder::given(std::string_view key) const {
  const Setting* setting = find(key);
  return setting == nullptr ? nullptr : &std::get<T>(setting->value);
}

void PointBuilder::set_plain_values() {
  point_.name = head_.name;
  point_.op = head_.op;
  point_.own_op = head_.own_op;
  point_.mode = head_.mode;
  point_.tier = head_.tier;
  point_.caches = head_.caches;
  point_.timeout_s = head_.timeout_s;
  point_.where = head_.where;
  point_.seed = head_.seed;
  if (const auto* seed = given<std::uint64_t>("seed")) point_.seed = *seed;
  if (const auto* tolerance = given<Tolerance>("tolerance")) point_.tolerance = *tolerance;
}

void PointBuilder::set_model() {
  if (const auto* model = given<Value>("model")) point_.model = std::get<std::string>(*model);
  for (const char* key : {"layer", "calls", "step_tokens"}) {
    const Setting* setting = find(key);
    if (setting == nullptr || !point_.model.empty() || is_bad("model")) continue;
    throw Problem(
        diagnose(*setting->origin.caret, fmt::format("'{}' belongs to a model: give 'model' too", key)));
  }
  if (const auto* layer = given<Value>("layer")) point_.layer = std::get<std::string>(*layer);
  if (const auto* calls = given<Value>("calls")) point_.calls = std::get<std::int64_t>(*calls);
  if (const auto* tokens = given<Value>("step_tokens")) point_.tokens = std::get<std::int64_t>(*tokens);
}

/// Returns false if a parameter could not be read. Throws Problem for all that are missing.
bool PointBuilder::set_params() {
  bool has_all = true;
  Problems problems;
  for (const ParamSpec& param : head_.op->params) {
    const bool is_derived = !param.fallback && param.derive != nullptr;
    if (is_bad(param.name) || (is_derived && !has_all)) {
      has_all = false;
    } else if (!set_param(param)) {
      has_all = false;
      const std::string name = head_.name.empty() ? "the case" : fmt::format("case '{}'", head_.name);
      problems.add(Problem(
          diagnose(*head_.caret, fmt::format("{} is missing the parameter '{}' of {}{}", name, param.name,
                                             head_.op->name, param.doc.empty() ? "" : ": " + param.doc))));
    }
  }
  problems.settle();
  return has_all;
}

/// Returns false if the parameter is neither given nor has a default.
bool PointBuilder::set_param(const ParamSpec& param) {
  Params& params = point_.params.edit();
  if (const auto* value = given<Value>(param.name)) {
    params.set(param.name, *value);
    return true;
  }
  const std::optional<Value> fallback = param.default_for(params);
  if (fallback) params.set(param.name, *fallback);
  return fallback.has_value();
}

// The op computes defaults and tensors, and may find that the parameters do not fit together. Returns false
// if a parameter that it needs was already reported.
bool PointBuilder::set_params_and_tensors() {
  try {
    if (!set_params()) return false;
    point_.tensors = common_.tensors.of(head_.op->tensors(point_.params));
    refuse_too_large(*point_.tensors);
    inputs_ = tensor_names(point_.tensors, TensorSpec::Role::Input);
    return true;
  } catch (const Problem&) {
    throw;
  } catch (const ParameterError& error) {
    fail(error);
  } catch (const std::exception& error) {
    throw Problem(diagnose(*head_.caret, error.what()));
  }
}

void PointBuilder::fail(const ParameterError& error) const {
  const std::string name = error.parameter().substr(0, error.parameter().find('.'));
  const Setting* setting = find(name);
  if (setting == nullptr) throw Problem(diagnose(*head_.caret, error.what()));
  throw problem_of(error, name, setting->origin);
}

void PointBuilder::set_impl() {
  const auto* impl = given<const Impl*>("impl");
  if (impl == nullptr && head_.op->impls.empty()) {
    throw Problem(diagnose(*head_.caret, fmt::format("op '{}' has no impl", head_.op->name)));
  }
  point_.impl = impl != nullptr ? *impl : head_.op->default_impl();
}

void PointBuilder::set_forms() {
  const auto* setting = given<FormsSetting>("forms");
  Problems problems;
  if (setting != nullptr)
    problems.attempt([&] { check_names(setting->by_tensor, "tensor", names_of(point_.tensors)); });
  point_.forms.reserve(point_.tensors->size());
  for (const TensorSpec& tensor : point_.tensors) {
    point_.forms.push_back(tensor.forms.empty() ? Form{} : tensor.forms.front());
    if (setting == nullptr) continue;
    const auto written = setting->by_tensor.find(tensor.name);
    if (written != setting->by_tensor.end()) problems.attempt([&] { set_form(tensor, written->second); });
  }
  problems.settle();
  settle_conv2d(point_);
}

/// Sets the last tensor's form in the point's `forms`.
void PointBuilder::set_form(const TensorSpec& tensor, const Placed<WrittenForm>& written) {
  const std::optional<std::string> refused = set_last_form(point_, written.value);
  if (!refused) return;
  throw Problem(diagnose(*written.origin.caret, fmt::format("tensor '{}' ({}) does not accept {}",
                                                            tensor.name, name_of(tensor.dtype), *refused)));
}

void PointBuilder::set_fills() {
  const auto* setting = given<FillSetting>("fill");
  Problems problems;
  if (setting != nullptr) {
    problems.attempt([&] {
      check_names(setting->by_tensor, "input", tensor_names(point_.tensors, TensorSpec::Role::Input));
    });
  }
  std::map<std::string, FillSpec> fills;
  for (const TensorSpec& tensor : point_.tensors) {
    if (!tensor.is_input()) continue;
    FillSpec& fill = fills[tensor.name];
    if (setting == nullptr) continue;
    if (setting->all) fill = *setting->all;
    const auto named = setting->by_tensor.find(tensor.name);
    if (named == setting->by_tensor.end()) continue;
    fill = named->second.value;
    problems.attempt([&] { check_fill(tensor, fill, named->second.origin); });
  }
  problems.settle();
  point_.fills = common_.fills.of(std::move(fills));
}

void PointBuilder::check_fill(const TensorSpec& tensor, const FillSpec& fill, const Origin& origin) {
  NpyInfo values;
  std::optional<std::string> misfit;
  if (fill.kind == FillKind::Npy) {
    values = checked_npy(tensor, fill.file, origin);
  } else if (fill.value) {
    values.lowest = values.highest = *fill.value;
    values.whole = *fill.value == std::trunc(*fill.value);
    misfit = outside_dtype(tensor, *fill.value);
  } else {
    return;
  }
  if (const auto why = outside_domain(tensor, values)) throw Problem(diagnose(*origin.caret, *why));
  if (misfit) throw Problem(diagnose(*origin.caret, *misfit));
}

const NpyInfo& PointBuilder::checked_npy(const TensorSpec& tensor, const ArrayFile& file,
                                         const Origin& origin) {
  const Node::Entry* npy = origin.value->find_entry(file.member.empty() ? "npy" : "npz");
  const Node& caret = npy == nullptr ? *origin.caret : *npy->key;
  if (const auto why = npy_files_.misfit_by_outline(file, tensor))
    throw Problem(diagnose(caret, fmt::format("{} {}", to_string(file), *why)));
  const NpyInfo& info = npy_files_.get(file);
  if (!info.error.empty()) throw Problem(diagnose(caret, info.error));
  if (const auto why = npy_files_.misfit(file, tensor))
    throw Problem(diagnose(caret, fmt::format("{} {}", to_string(file), *why)));
  return info;
}

/// Refuses a case of an op without a reference that does not say what every output is.
void PointBuilder::check_brings_answers(const ExpectedSetting* setting) const {
  for (const std::string& output : tensor_names(point_.tensors, TensorSpec::Role::Output)) {
    if (setting != nullptr && setting->files.contains(output)) continue;
    throw Problem(
        diagnose(*head_.caret,
                 fmt::format("{} has no reference, so that each case brings its answers, and this one has "
                             "none for '{}': add `expected: {{{}: {{npy: FILE}}}}`",
                             point_.op->name, output, output)));
  }
}

void PointBuilder::set_expected() {
  const auto* setting = given<ExpectedSetting>("expected");
  if (point_.op->answers_of_case) check_brings_answers(setting);
  if (setting == nullptr) return;
  Problems problems;
  problems.attempt(
      [&] { check_names(setting->files, "output", tensor_names(point_.tensors, TensorSpec::Role::Output)); });
  for (const TensorSpec& tensor : point_.tensors) {
    const auto file = setting->files.find(tensor.name);
    if (tensor.is_input() || file == setting->files.end()) continue;
    problems.attempt([&] { checked_npy(tensor, file->second.value, file->second.origin); });
    point_.expected_files.edit()[tensor.name] = file->second.value;
  }
  problems.settle();
}

/// Refuses a tolerance that would change nothing, because it is a mistake.
void PointBuilder::check_tolerance() const {
  const Setting* setting = find("tolerance");
  if (setting == nullptr) return;
  const Origin& origin = setting->origin;
  Problems problems;
  const auto fail_at = [&](const char* key, const std::string& why) {
    const Node::Entry* entry = origin.value->find_entry(key);
    if (entry != nullptr) problems.add(Problem(diagnose(*entry->key, why)));
  };
  bool has_bounds = false, has_integers = false, has_floats = false;
  for (const TensorSpec& tensor : point_.tensors) {
    if (tensor.is_input()) continue;
    has_bounds = has_bounds || tensor.output_class != OutputClass::Exact;
    if (tensor.output_class != OutputClass::Bounded && !point_.expected_files->contains(tensor.name))
      continue;
    has_integers = has_integers || is_integer(tensor.dtype);
    has_floats = has_floats || is_float(tensor.dtype);
  }
  if (!has_bounds) {
    fail_at("scale",
            "tolerance.scale multiplies bounds, but every output of this case is exact and has none");
  }
  if (!has_integers && !has_floats) {
    for (const char* key : {"abs", "rel", "ulp", "off_by"}) {
      fail_at(key, fmt::format("tolerance.{} applies to bounded outputs and to those with an `expected:` "
                               "file; this case has neither",
                               key));
    }
    return problems.settle();
  }
  if (!has_integers) {
    fail_at("off_by",
            "tolerance.off_by applies to integers, but the outputs that it could apply to are floats");
  }
  if (!has_floats)
    fail_at("ulp", "tolerance.ulp applies to floats, but the outputs that it could apply to are integers");
  problems.settle();
}

Problem PointBuilder::unknown_tunable(const Node& caret, const std::string& name,
                                      std::span<const std::string> known) const {
  std::vector<std::string> owners;  // an `impl:` with one of these is missing
  for (const Impl& impl : head_.op->impls) {
    if (std::ranges::count(impl.tunables, name, &Tunable::name) > 0) owners.push_back(impl.name);
  }
  const std::string of = fmt::format("tunable of {} impl '{}':", head_.op->name, point_.impl->name);
  if (owners.empty()) return unknown_name(caret, of, name, known);
  const bool is_default = given<const Impl*>("impl") == nullptr;
  return Problem(diagnose(
      caret, fmt::format("unknown {} '{}'; {}it belongs to impl {}", of, name,
                         is_default ? "the case names no impl, and " : "", fmt::join(owners, ", "))));
}

void PointBuilder::set_tune() {
  const auto* setting = given<TuneSetting>("tune");
  if (setting == nullptr) return;
  std::vector<std::string> known;
  for (const Tunable& tunable : point_.impl->tunables) known.push_back(tunable.name);
  Problems problems;
  for (const auto& [name, placed] : setting->constants) {
    const auto tunable = std::ranges::find(point_.impl->tunables, name, &Tunable::name);
    if (tunable == point_.impl->tunables.end()) {
      problems.add(unknown_tunable(*placed.origin.caret, name, known));
    } else if (!tunable->allows(placed.value)) {
      problems.add(
          Problem(diagnose(*placed.origin.caret, fmt::format("tune.{} must be {} {}, got {}", name,
                                                             tunable->allowed.empty() ? "in" : "one of",
                                                             tunable->range_text(), placed.value))));
    }
    point_.tune[name] = placed.value;
  }
  problems.settle();
}

void PointBuilder::set_id(const PointChoice& choice) {
  std::string& id = point_.id;
  id = head_.op->name + '/' + head_.name;
  for (const std::string_view segment : choice.segments) id.append(1, '/').append(segment);
  append_forms_and_impl(point_, id);
  id.shrink_to_fit();
}

void PointBuilder::set_data_key() {
  point_.data_key = data_key(point_, [&](const ArrayFile& file) { return npy_files_.get(file).hash; });
}

}  // namespace assay::cases
