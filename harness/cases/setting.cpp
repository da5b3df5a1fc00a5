#include "harness/cases/setting.h"

#include "harness/cases/scalars.h"

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
  if (!origin.value->is_map()) wrong_type(*origin.value, {origin.caret, name}, wanted, names_of_sets);
  return *origin.value;
}

/// A path of a case file, relative to the file it is written in.
std::string resolved(const Node& value, const Spot& spot) {
  const std::filesystem::path name(to_text(value, spot));
  if (name.empty()) throw Problem(diagnose(*spot.caret, "'npy' needs the name of a file"));
  return (value.file->path().parent_path() / name).lexically_normal().string();
}

std::string read_npy_name(const Origin& origin, const std::string& name) {
  static const std::array<std::string, 1> keys{"npy"};
  const Node& map = to_map(origin, name, "a map {npy: FILE}");
  check_keys(map, keys);
  const Node::Entry* npy = map.find_entry("npy");
  if (npy == nullptr) wrong_type(map, {origin.caret, name}, "a map {npy: FILE}");
  return resolved(*npy->value, {npy->key, "npy"});
}

ExpectedSetting read_expected(const Origin& origin) {
  ExpectedSetting setting;
  for (const Node::Entry& entry : to_map(origin, "expected", "a map {OUTPUT: {npy: FILE}}").entries) {
    const Origin below = origin_of(entry);
    setting.files.insert({entry.key->text, {read_npy_name(below, "expected." + entry.key->text), below}});
  }
  return setting;
}

Tolerance read_tolerance(const Origin& origin) {
  static const std::array<std::string, 2> keys{"scale", "reason"};
  const Node& map = to_map(origin, "tolerance", "a map {scale: NUMBER, reason: TEXT}");
  check_keys(map, keys);
  const Node::Entry* scale = map.find_entry("scale");
  if (scale == nullptr) throw Problem(diagnose(*origin.caret, "'tolerance' lacks its 'scale'"));
  Tolerance tolerance;
  tolerance.scale = to_number(*scale->value, {scale->key, "tolerance.scale"});
  if (const Node::Entry* reason = map.find_entry("reason")) {
    tolerance.reason = to_text(*reason->value, {reason->key, "tolerance.reason"});
  }
  if (tolerance.scale < 0) {
    throw Problem(
        diagnose(*scale->key, fmt::format("tolerance.scale must be at least 0, got {}", tolerance.scale)));
  }
  if (tolerance.scale > 1 && tolerance.reason.empty()) {
    throw Problem(
        diagnose(*scale->key, fmt::format("tolerance.scale {} loosens the bound of the reference: say why "
                                          "in 'reason'",
                                          tolerance.scale)));
  }
  return tolerance;
}

TuneSetting read_tune(const Origin& origin, std::span<const std::string> names_of_sets) {
  TuneSetting setting;
  for (const Node::Entry& entry : to_map(origin, "tune", "a map {TUNABLE: INTEGER}", names_of_sets).entries) {
    const std::int64_t value = to_integer(*entry.value, {entry.key, "tune." + entry.key->text});
    setting.constants.insert({entry.key->text, {value, origin_of(entry)}});
  }
  return setting;
}

/// A layout alone is the usual slip.
Problem unknown_form(const Node& caret, const std::string& text) {
  const std::string in_buffer = "buffer/" + text;
  if (!parse_form(in_buffer)) return unknown_name(caret, "form", text, form_names());
  return Problem(diagnose(caret, fmt::format("unknown form '{}'", text), in_buffer));
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
  } else {
    throw unknown_name(*origin.caret, "key", key, keys_);
  }
  settings.push_back(std::move(setting));
}

void SettingReader::read_with(std::vector<Setting>& settings, const Origin& origin) const {
  for (const Node::Entry& entry :
       to_map(origin, "with", "a map of values that go together", set_names_).entries) {
    if (entry.key->text == "with" || is_head_key(entry.key->text)) {
      throw Problem(diagnose(*entry.key, fmt::format("'{}' cannot stand inside 'with'", entry.key->text)));
    }
    read_into(settings, entry.key->text, origin_of(entry));
  }
}

void SettingReader::read_qparams(std::vector<Setting>& settings, const Origin& origin) const {
  std::vector<std::string> known;
  for (const ParamSpec& param : op_.params) {
    if (param.kind == ParamSpec::Kind::QParams) known.push_back(param.name);
  }
  const Node& map = to_map(origin, "qparams", "a map {NAME: {scale: ..., zero_point: ...}}", set_names_);
  for (const Node::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key->text) == known.end()) {
      throw unknown_name(*entry.key, fmt::format("qparams of {}:", op_.name), entry.key->text, known);
    }
    read_into(settings, entry.key->text, origin_of(entry));
  }
}

FillSetting SettingReader::read_fill(const Origin& origin) const {
  FillSetting setting;
  if (!origin.value->is_map()) {
    setting.all = read_fill_spec(origin, "fill");
    return setting;
  }
  for (const Node::Entry& entry : origin.value->entries) {
    const Origin below = origin_of(entry);
    setting.by_tensor.insert({entry.key->text, {read_fill_spec(below, "fill." + entry.key->text), below}});
  }
  return setting;
}

FillSpec SettingReader::read_fill_spec(const Origin& origin, const std::string& name) const {
  static const std::array<std::string, 2> keys{"constant", "npy"};
  const Node& value = *origin.value;
  const Spot spot{origin.caret, name};
  if (value.is_map() && value.entries.size() == 1) {
    check_keys(value, keys);
    const Node::Entry& entry = value.entries[0];
    if (entry.key->text == "npy")
      return {FillKind::Npy, std::nullopt, resolved(*entry.value, {entry.key, "npy"})};
    return {FillKind::Constant, to_number(*entry.value, {entry.key, name + ".constant"}), {}};
  }
  std::vector<std::string> known = fill_names();
  known.insert(known.end(), set_names_.begin(), set_names_.end());
  if (!value.is_scalar()) wrong_type(value, spot, "a fill, {constant: NUMBER} or {npy: FILE}", known);
  const std::optional<FillKind> kind = parse_fill(value.text);
  if (!kind) throw unknown_name(*origin.caret, "fill", value.text, known);
  if (*kind == FillKind::Npy) {
    throw Problem(diagnose(*origin.caret, "fill 'npy' needs a tensor and a file: fill: {x: {npy: FILE}}"));
  }
  return {*kind, std::nullopt, {}};
}

FormsSetting SettingReader::read_forms(const Origin& origin) const {
  FormsSetting setting;
  for (const Node::Entry& entry :
       to_map(origin, "forms", "a map {TENSOR: STORAGE/LAYOUT}", set_names_).entries) {
    const std::string& text = to_text(*entry.value, {entry.key, "forms." + entry.key->text});
    const std::optional<Form> form = parse_form(text);
    if (!form) throw unknown_form(*entry.key, text);
    setting.by_tensor.insert({entry.key->text, {*form, origin_of(entry)}});
  }
  return setting;
}

const Impl* SettingReader::read_impl(const Origin& origin) const {
  std::vector<std::string> known;
  for (const Impl& impl : op_.impls) known.push_back(impl.name);
  const std::string& name = to_text(*origin.value, {origin.caret, "impl"});
  if (const Impl* impl = op_.find_impl(name)) return impl;
  throw unknown_name(*origin.caret, fmt::format("impl of {}:", op_.name), name, known);
}

std::span<const std::string> setting_keys() {
  static const std::array<std::string, 9> keys{"with",      "qparams", "fill", "forms", "expected",
                                               "tolerance", "tune",    "seed", "impl"};
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

const std::vector<std::string>& form_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Storage storage : {Storage::Buffer, Storage::Texture3D, Storage::Texture2D}) {
      for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP, Layout::P4W, Layout::P4C, Layout::P4C1W,
                                  Layout::P4W4C, Layout::P4H4W}) {
        if (storage == Storage::Buffer || !is_int8x4(layout)) all.push_back(to_string(Form{storage, layout}));
      }
    }
    return all;
  }();
  return names;
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

void check_keys(const Node& map, std::span<const std::string> known) {
  for (const Node::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key->text) == known.end()) {
      throw unknown_name(*entry.key, "key", entry.key->text, known);
    }
  }
}

}  // namespace assay::cases
