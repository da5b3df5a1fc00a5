#include "harness/cases/expansion/setting.h"

#include "harness/base/text.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace assay::cases {
namespace {

Origin origin_of(const Node::Entry& entry) {
  return {entry.key, entry.value};
}

const Node& to_map(const Origin& origin, const std::string& name, std::string_view wanted,
                   std::span<const std::string> names_of_sets = {}) {
  if (!origin.value->is_map()) wrong_value(*origin.value, {origin.caret, name}, wanted, names_of_sets);
  return *origin.value;
}

/// Returns a path relative to the case file in which it is written.
std::string resolved(const Node::Entry& entry) {
  const std::filesystem::path name(to_text(*entry.value, {entry.key, entry.key->text}));
  if (name.empty())
    throw Problem(diagnose(*entry.key, fmt::format("'{}' needs the name of a file", entry.key->text)));
  refuse_nul(*entry.key, name);
  return (entry.value->file->path().parent_path() / name).lexically_normal().string();
}

constexpr std::string_view array_forms = "{npy: FILE} or {npz: FILE, member: NAME}";

/// Reads `{npy: FILE}` or `{npz: FILE, member: NAME}`. `spot` names what the array is for.
ArrayFile read_array_file(const Node& map, const Spot& spot) {
  static const std::array<std::string, 3> keys{"npy", "npz", "member"};
  check_keys(map, keys);
  const Node::Entry* npy = map.find_entry("npy");
  const Node::Entry* npz = map.find_entry("npz");
  const Node::Entry* member = map.find_entry("member");
  if ((npy == nullptr) == (npz == nullptr)) wrong_type(map, spot, array_forms);
  if (npy != nullptr) {
    if (member != nullptr) throw Problem(diagnose(*member->key, "'member' belongs to 'npz', not to 'npy'"));
    return resolved(*npy);
  }
  if (member == nullptr) {
    throw Problem(diagnose(*npz->key, "'npz' needs a 'member': {npz: FILE, member: NAME}"));
  }
  const std::string& name = to_text(*member->value, {member->key, "member"});
  if (name.empty()) throw Problem(diagnose(*member->key, "'member' needs the name of an array"));
  return {resolved(*npz), name};
}

ExpectedSetting read_expected(const Origin& origin) {
  ExpectedSetting setting;
  Problems problems;
  for (const Node::Entry& entry : to_map(origin, "expected", "a map {OUTPUT: {npy: FILE}}").entries) {
    problems.attempt([&] {
      const Origin below = origin_of(entry);
      const std::string name = "expected." + entry.key->text;
      const Node& map = to_map(below, name, fmt::format("a map {}", array_forms));
      setting.files.insert({entry.key->text, {read_array_file(map, {below.caret, name}), below}});
    });
  }
  problems.settle();
  return setting;
}

/// Reads the keys of `tolerance:`.
class ToleranceReader {
 public:
  explicit ToleranceReader(const Origin& origin)
      : origin_(origin), map_(to_map(origin, "tolerance", "a map {scale: NUMBER, abs: NUMBER, ...}")) {
    static const std::array<std::string, 7> keys{"scale", "abs", "rel", "ulp", "off_by", "share", "reason"};
    check_keys(map_, keys);
  }

  Tolerance read() {
    Tolerance tolerance;
    Problems problems;
    problems.attempt([&] { tolerance.scale = number("scale", 1); });
    problems.attempt([&] { tolerance.abs = number("abs", 0); });
    problems.attempt([&] { tolerance.rel = number("rel", 0); });
    problems.attempt([&] { tolerance.ulp = number("ulp", 0); });
    problems.attempt([&] {
      if (const Node::Entry* off_by = map_.find_entry("off_by"))
        tolerance.off_by = static_cast<double>(read_off_by(*off_by));
    });
    problems.attempt([&] { tolerance.share = number("share", 1); });
    problems.attempt([&] {
      if (const Node::Entry* reason = map_.find_entry("reason"))
        tolerance.reason = to_text(*reason->value, {reason->key, "tolerance.reason"});
    });
    problems.settle();  // what follows holds values against each other
    check_share(tolerance);
    check_not_empty(tolerance);
    check_reason(tolerance);
    return tolerance;
  }

 private:
  double number(const char* key, double otherwise) const {
    const Node::Entry* entry = map_.find_entry(key);
    if (entry == nullptr) return otherwise;
    const std::string name = fmt::format("tolerance.{}", key);
    const double value = to_number(*entry->value, {entry->key, name});
    if (value < 0)
      throw Problem(diagnose(*entry->key, fmt::format("{} must be at least 0, got {}", name, value)));
    return value;
  }

  static std::int64_t read_off_by(const Node::Entry& entry) {
    const std::int64_t value = to_integer(*entry.value, {entry.key, "tolerance.off_by"});
    if (value >= 1) return value;
    throw Problem(diagnose(*entry.key, fmt::format("tolerance.off_by must be at least 1, got {}", value)));
  }

  void check_share(const Tolerance& tolerance) const {
    const Node::Entry* share = map_.find_entry("share");
    if (share == nullptr) return;
    if (tolerance.share == 0 || tolerance.share > 1) {
      throw Problem(diagnose(
          *share->key,
          fmt::format("tolerance.share must be more than 0 and at most 1, got {}", tolerance.share)));
    }
    if (tolerance.has_allowance()) return;
    throw Problem(diagnose(
        *share->key,
        "tolerance.share limits how many elements may need abs, rel, ulp or off_by: give one of those"));
  }

  void check_not_empty(const Tolerance& tolerance) const {
    if (map_.find_entry("scale") != nullptr || tolerance.has_allowance()) return;
    throw Problem(diagnose(*origin_.caret, "'tolerance' needs a 'scale', 'abs', 'rel', 'ulp' or 'off_by'"));
  }

  void check_reason(const Tolerance& tolerance) const {
    if (!tolerance.reason.empty()) return;
    if (tolerance.scale > 1) {
      throw Problem(diagnose(*map_.find_entry("scale")->key,
                             fmt::format("tolerance.scale {} loosens the bound of the reference: say why "
                                         "in 'reason'",
                                         tolerance.scale)));
    }
    for (const char* key : {"abs", "rel", "ulp", "off_by"}) {
      const Node::Entry* entry = map_.find_entry(key);
      if (entry == nullptr) continue;
      throw Problem(diagnose(
          *entry->key,
          fmt::format("tolerance.{} accepts answers that would fail without it: say why in 'reason'", key)));
    }
  }

  const Origin& origin_;
  const Node& map_;
};

Tolerance read_tolerance(const Origin& origin) {
  return ToleranceReader(origin).read();
}

TuneSetting read_tune(const Origin& origin, std::span<const std::string> names_of_sets) {
  TuneSetting setting;
  Problems problems;
  for (const Node::Entry& entry : to_map(origin, "tune", "a map {TUNABLE: INTEGER}", names_of_sets).entries) {
    problems.attempt([&] {
      const std::int64_t value = to_integer(*entry.value, {entry.key, "tune." + entry.key->text});
      setting.constants.insert({entry.key->text, {value, origin_of(entry)}});
    });
  }
  problems.settle();
  return setting;
}

/// Models and layers become segments of ids, so different texts must give different segments.
Value read_model_key(const std::string& key, const Origin& origin) {
  if (key == "calls" || key == "step_tokens") {
    const std::int64_t count = to_integer(*origin.value, {origin.caret, key});
    if (count > 0) return count;
    throw Problem(diagnose(*origin.caret, fmt::format("'{}' must be at least 1, got {}", key, count)));
  }
  const std::string& text = to_text(*origin.value, {origin.caret, key});
  if (!text.empty() && id_text(text) == text) return text;
  throw Problem(diagnose(
      *origin.caret,
      fmt::format("a {} may have only letters, digits, '_' and '.', got '{}'", key, printable_line(text))));
}

/// Refuses `fill: {constant: 3}`: what is not one of the fills by name is of one input, whose name is
/// missing.
void refuse_fill_without_input(const Node& fill) {
  static const std::map<std::string, std::string> wholes{
      {"constant", "{constant: NUMBER}"}, {"npy", "{npy: FILE}"}, {"npz", "{npz: FILE, member: NAME}"}};
  for (const Node::Entry& entry : fill.entries) {
    const auto whole = wholes.find(entry.key->text);
    if (whole == wholes.end() || !entry.value->is_scalar() || parse_fill(entry.value->text)) continue;
    throw Problem(
        diagnose(*entry.key, fmt::format("'{}' gives the values of one input, whose name is missing: "
                                         "write `fill: {{x: {}}}` for the input x",
                                         whole->first, whole->second)));
  }
}

/// Suggests a form for a layout written alone, which is the usual slip.
Problem unknown_form(const Node& caret, const std::string& text, const Op& op) {
  const std::string in_buffer = "buffer/" + text;
  const std::vector<std::string> known = form_names(op);
  if (std::ranges::find(known, in_buffer) == known.end()) return unknown_name(caret, "form", text, known);
  return Problem(diagnose(caret, fmt::format("unknown form '{}'", printable_line(text)), in_buffer));
}

}  // namespace

SettingReader::SettingReader(const Op& op, const Sets& sets) : op_(op), set_names_(sets.names()) {
  for (const ParamSpec& param : op.params) keys_.push_back(param.name);
  keys_.insert(keys_.end(), setting_keys().begin(), setting_keys().end());
}

std::vector<Setting> SettingReader::read(const std::string& key, const Origin& origin) const {
  std::vector<Setting> settings;
  read_into(settings, key, origin);
  return settings;
}

void SettingReader::read_into(std::vector<Setting>& settings, const std::string& key,
                              const Origin& origin) const {
  if (origin.value->is_null()) wrong_type(*origin.value, {origin.caret, key}, "something");
  if (key == "with") return read_with(settings, origin);
  if (key == "qparams") return read_qparams(settings, origin);
  Setting setting{key, origin, {}};
  if (const ParamSpec* param = op_.find_param(key)) {
    setting.value = to_value(*param, origin, set_names_);
  } else if (key == "fill") {
    setting.value = read_fill(origin);
  } else if (key == "forms") {
    setting.value = read_forms(origin);
  } else if (key == "expected") {
    setting.value = read_expected(origin);
  } else if (key == "tolerance") {
    setting.value = read_tolerance(origin);
  } else if (key == "tune") {
    setting.value = read_tune(origin, set_names_);
  } else if (key == "seed") {
    setting.value = to_unsigned(*origin.value, {origin.caret, key});
  } else if (key == "impl") {
    setting.value = read_impl(origin);
  } else if (is_model_key(key)) {
    setting.value = read_model_key(key, origin);
  } else {
    throw unknown_name(*origin.caret, "key", key, keys_);
  }
  settings.push_back(std::move(setting));
}

void SettingReader::read_with(std::vector<Setting>& settings, const Origin& origin) const {
  Problems problems;
  for (const Node::Entry& entry :
       to_map(origin, "with", "a map of values that go together", set_names_).entries) {
    if (entry.key->text == "with" || is_head_key(entry.key->text)) {
      problems.add(
          Problem(diagnose(*entry.key, fmt::format("'{}' is not allowed inside 'with'", entry.key->text))));
      continue;
    }
    problems.attempt([&] { read_into(settings, entry.key->text, origin_of(entry)); });
  }
  problems.settle();
}

void SettingReader::read_qparams(std::vector<Setting>& settings, const Origin& origin) const {
  std::vector<std::string> known;
  for (const ParamSpec& param : op_.params) {
    if (param.kind == ParamSpec::Kind::QParams) known.push_back(param.name);
  }
  const Node& map = to_map(origin, "qparams", "a map {NAME: {scale: ..., zero_point: ...}}", set_names_);
  Problems problems;
  for (const Node::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key->text) == known.end()) {
      problems.add(unknown_name(*entry.key, fmt::format("qparams of {}:", op_.name), entry.key->text, known));
      continue;
    }
    problems.attempt([&] { read_into(settings, entry.key->text, origin_of(entry)); });
  }
  problems.settle();
}

FillSetting SettingReader::read_fill(const Origin& origin) const {
  FillSetting setting;
  if (!origin.value->is_map()) {
    setting.all = read_fill_spec(origin, "fill");
    return setting;
  }
  refuse_fill_without_input(*origin.value);
  Problems problems;
  for (const Node::Entry& entry : origin.value->entries) {
    problems.attempt([&] {
      const Origin below = origin_of(entry);
      setting.by_tensor.insert({entry.key->text, {read_fill_spec(below, "fill." + entry.key->text), below}});
    });
  }
  problems.settle();
  return setting;
}

FillSpec SettingReader::read_fill_spec(const Origin& origin, const std::string& name) const {
  static const std::array<std::string, 4> keys{"constant", "npy", "npz", "member"};
  const Node& value = *origin.value;
  const Spot spot{origin.caret, name};
  if (value.is_map() && !value.entries.empty()) {
    check_keys(value, keys);
    const Node::Entry* constant = value.find_entry("constant");
    if (constant == nullptr) return {FillKind::Npy, std::nullopt, read_array_file(value, spot)};
    if (value.entries.size() == 1)
      return {FillKind::Constant, to_number(*constant->value, {constant->key, name + ".constant"}), {}};
  }
  std::vector<std::string> known = fill_names();
  known.insert(known.end(), set_names_.begin(), set_names_.end());
  if (!value.is_scalar())
    wrong_value(value, spot, "a fill, {constant: NUMBER}, {npy: FILE} or {npz: FILE, member: NAME}", known);
  const std::optional<FillKind> kind = parse_fill(value.text);
  known.emplace_back("npz");
  if (value.text == "npz") {
    throw Problem(
        diagnose(*origin.caret,
                 "fill 'npz' needs a tensor, a file and a member: fill: {x: {npz: FILE, member: NAME}}"));
  }
  if (!kind) throw unknown_name(*origin.caret, "fill", value.text, known);
  if (*kind == FillKind::Npy) {
    throw Problem(diagnose(*origin.caret, "fill 'npy' needs a tensor and a file: fill: {x: {npy: FILE}}"));
  }
  return {*kind, std::nullopt, {}};
}

FormsSetting SettingReader::read_forms(const Origin& origin) const {
  FormsSetting setting;
  Problems problems;
  for (const Node::Entry& entry :
       to_map(origin, "forms", "a map {TENSOR: STORAGE/LAYOUT}", set_names_).entries) {
    problems.attempt([&] {
      const std::string& text = to_text(*entry.value, {entry.key, "forms." + entry.key->text});
      const std::optional<WrittenForm> form = parse_written_form(text);
      if (!form) throw unknown_form(*entry.key, text, op_);
      setting.by_tensor.insert({entry.key->text, {*form, origin_of(entry)}});
    });
  }
  problems.settle();
  return setting;
}

const Impl* SettingReader::read_impl(const Origin& origin) const {
  std::vector<std::string> known;
  for (const Impl& impl : op_.impls) known.push_back(impl.name);
  if (origin.value->is_list())
    wrong_value(*origin.value, {origin.caret, "impl"}, "the name of an impl, or 'all'");
  const std::string& name = to_text(*origin.value, {origin.caret, "impl"});
  if (const Impl* impl = op_.find_impl(name)) return impl;
  throw unknown_name(*origin.caret, fmt::format("impl of {}:", op_.name), name, known);
}

std::span<const std::string> setting_keys() {
  static const std::array<std::string, 13> keys{"with",      "qparams", "fill",       "forms", "expected",
                                                "tolerance", "tune",    "seed",       "impl",  "model",
                                                "layer",     "calls",   "step_tokens"};
  return keys;
}

bool is_head_key(std::string_view key) {
  return key == "name" || key == "mode" || key == "tier" || key == "cache" || key == "timeout";
}

bool is_reserved(std::string_view key) {
  const std::span<const std::string> settings = setting_keys();
  return is_head_key(key) || key == "each" ||
         std::find(settings.begin(), settings.end(), key) != settings.end();
}

const std::vector<std::string>& fill_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int kind = 0; kind <= static_cast<int>(FillKind::Npy); ++kind) {
      all.emplace_back(name_of(static_cast<FillKind>(kind)));
    }
    return all;
  }();
  return names;
}

void refuse_nul(const Node& caret, const std::string& name) {
  if (name.find('\0') != std::string::npos)
    throw Problem(diagnose(caret, fmt::format("the name of a file cannot contain NUL, got '{}'", name)));
}

}  // namespace assay::cases
