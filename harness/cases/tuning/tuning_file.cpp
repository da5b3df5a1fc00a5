#include "harness/base/hash.h"
#include "harness/cases/tuning/impl_forms.h"
#include "harness/cases/tuning/tensor_names.h"
#include "harness/cases/tuning/tuning.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_parser.h"
#include "harness/cases/yaml/yaml_tree.h"
#include "harness/tensor/form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay::cases {
namespace {

using Kind = ParamSpec::Kind;

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

const std::string& tuning_text(const Node::Entry& entry) {
  const std::string& text = to_text(*entry.value, {entry.key, entry.key->text});
  if (text.empty()) throw Problem(diagnose(*entry.key, fmt::format("'{}' is empty", entry.key->text)));
  return text;
}

std::optional<std::int64_t> range_end(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

/// Reads "64" or "1..64".
ValueRange read_range(const Node& value, const Spot& spot) {
  constexpr std::string_view wanted = "a 64-bit decimal integer, or a range of them such as 1..64";
  if (const auto integer = as_integer(value)) return {*integer, *integer};
  const std::string_view text = value.is_scalar() ? value.text : std::string_view();
  const std::size_t dots = text.find("..");
  if (dots == text.npos) wrong_type(value, spot, wanted);
  const std::optional<std::int64_t> low = range_end(text.substr(0, dots));
  const std::optional<std::int64_t> high = range_end(text.substr(dots + 2));
  if (!low || !high) wrong_type(value, spot, wanted);
  if (*low > *high) {
    throw Problem(
        diagnose(*spot.caret, fmt::format("'{}' is the empty range {}..{}", spot.name, *low, *high)));
  }
  return {*low, *high};
}

TuningCondition read_list(const Node::Entry& entry, const ParamSpec& param) {
  if (!entry.value->is_list()) wrong_type(*entry.value, {entry.key, entry.key->text}, "a list of ranges");
  const std::size_t count = entry.value->items.size();
  if (count < static_cast<std::size_t>(param.min_rank) || count > static_cast<std::size_t>(param.max_rank)) {
    throw Problem(
        diagnose(*entry.key, fmt::format("'{}' has {} values, and this is a list of {}", param.name,
                                         param.min_rank == param.max_rank
                                             ? std::to_string(param.min_rank)
                                             : fmt::format("{} to {}", param.min_rank, param.max_rank),
                                         count)));
  }
  TuningCondition made{.ranges = {}, .word = {}, .is_list = true};
  for (const Node* item : entry.value->items)
    made.ranges.push_back(read_range(*item, {item->is_scalar() ? item : entry.key, entry.key->text}));
  return made;
}

std::string read_word(const Node::Entry& entry, const ParamSpec& param) {
  const Spot spot{entry.key, entry.key->text};
  if (param.kind == Kind::Boolean) return to_boolean(*entry.value, spot) ? "true" : "false";
  const std::string& word = to_text(*entry.value, spot);
  if (std::ranges::find(param.choices, word) == param.choices.end())
    throw unknown_name(*entry.key, fmt::format("choice for {}:", param.name), word, param.choices);
  return word;
}

TuningCondition read_condition(const Node::Entry& entry, const ParamSpec& param) {
  switch (param.kind) {
    case Kind::Integer:
      return {.ranges = {read_range(*entry.value, {entry.key, param.name})}, .word = {}};
    case Kind::Shape:
    case Kind::Ints:
      return read_list(entry, param);
    case Kind::Boolean:
    case Kind::Choice:
      return {.ranges = {}, .word = read_word(entry, param)};
    case Kind::Number:
    case Kind::QParams:
      break;
  }
  throw Problem(diagnose(
      *entry.key,
      fmt::format("'{}' cannot be a condition: only whole numbers, shapes, lists, choices and true or false "
                  "can",
                  param.name)));
}

/// Calls `read` for each entry of a map, and keeps its problems.
template <class Read>
void read_map(const Node::Entry& entry, std::string_view wanted, Problems& problems, Read read) {
  if (!entry.value->is_map()) {
    problems.attempt([&] { wrong_type(*entry.value, {entry.key, entry.key->text}, wanted); });
    return;
  }
  for (const Node::Entry& one : entry.value->entries) problems.attempt([&] { read(one); });
}

/// Reads one entry of the list.
class EntryReader {
 public:
  EntryReader(const Node& node, const Registry& registry, PossibleTensors& tensors)
      : node_(node), registry_(registry), tensors_(tensors) {}

  /// Throws Problem with everything that is wrong.
  TuningEntry read() {
    static const std::array<std::string, 10> keys{"op",   "impl",  "when",     "forms",  "cache",
                                                  "tune", "ratio", "interval", "shapes", "left_out_pct"};
    if (!node_.is_map())
      throw Problem(diagnose(node_, "an entry is a map {op: NAME, impl: NAME, when: {...}, tune: {...}}"));
    problems_.attempt([&] { check_keys(node_, keys); });
    if (problems_.attempt([&] { read_impl(); })) {
      read_when();
      read_forms();
      problems_.attempt([&] { read_cache(); });
      read_tune();
    }
    problems_.attempt([&] { read_figures(); });
    problems_.settle();
    made_.line = location_of(node_).line;
    return std::move(made_);
  }

 private:
  const Node::Entry& needed(const char* key) const { return required(node_, key, node_, "the entry"); }

  void read_impl() {
    const Node::Entry& op = needed("op");
    const Node::Entry& impl = needed("impl");
    made_.op = tuning_text(op);
    op_ = registry_.find(made_.op);
    std::vector<std::string> known;
    for (const Op& one : registry_.ops()) known.push_back(one.name);
    if (op_ == nullptr) throw unknown_name(*op.value, "op", made_.op, known);
    made_.impl = tuning_text(impl);
    impl_ = op_->find_impl(made_.impl);
    known.clear();
    for (const Impl& one : op_->impls) known.push_back(one.name);
    if (impl_ == nullptr)
      throw unknown_name(*impl.value, fmt::format("impl of {}:", op_->name), made_.impl, known);
    if (impl_->choose) {
      throw Problem(diagnose(*impl.value, fmt::format("'{}' chooses an impl and has no tunables of its own; "
                                                      "name the impl that it chooses",
                                                      impl_->name)));
    }
  }

  void read_when() {
    const Node::Entry* when = node_.find_entry("when");
    if (when == nullptr) return;
    std::vector<std::string> known;
    for (const ParamSpec& param : op_->params) known.push_back(param.name);
    read_map(*when, "a map of parameters and their ranges", problems_, [&](const Node::Entry& one) {
      const ParamSpec* param = op_->find_param(one.key->text);
      if (param == nullptr)
        throw unknown_name(*one.key, fmt::format("parameter of {}:", op_->name), one.key->text, known);
      made_.when[param->name] = read_condition(one, *param);
    });
  }

  /// Throws Problem if no parameters give the op such a tensor, as far as it can be told.
  void check_tensor(const Node& name) const {
    const std::set<std::string>& names = tensors_.of(*op_);
    if (names.empty() || names.contains(name.text)) return;
    const std::vector<std::string> known(names.begin(), names.end());
    throw unknown_name(name, fmt::format("tensor of {}:", op_->name), name.text, known);
  }

  /// Throws Problem if no parameters let the tensor have that form, as far as it can be told.
  void check_form(const Node& value, const std::string& tensor, Form form) const {
    const std::set<Form>& possible = tensors_.forms_of(*op_, tensor);
    if (possible.empty() || possible.contains(form)) return;
    std::vector<std::string> known;
    for (const Form one : possible) known.push_back(to_string(one));
    throw Problem(diagnose(value, fmt::format("tensor '{}' of {} does not accept the form {}; it accepts {}",
                                              tensor, op_->name, to_string(form), fmt::join(known, ", "))));
  }

  /// Throws Problem if the impl runs with these forms at no point, as far as it can be told: the entry would
  /// never count.
  void check_impl_takes_forms(const Node& key) const {
    const std::optional<std::string> why = why_never_taken(*op_, *impl_, made_.forms);
    if (!why) return;
    throw Problem(diagnose(key, fmt::format("impl '{}' of {} takes no point with these forms: {}",
                                            impl_->name, op_->name, *why)));
  }

  void read_forms() {
    const Node::Entry* forms = node_.find_entry("forms");
    if (forms == nullptr) return;
    read_map(*forms, "a map of tensors and their forms", problems_, [&](const Node::Entry& one) {
      const std::string& tensor = one.key->text;
      if (tensor.find_first_not_of(name_characters) != tensor.npos)
        throw Problem(diagnose(*one.key, "the name of a tensor has letters, digits, '_' and '.' only"));
      check_tensor(*one.key);
      const std::string& form = tuning_text(one);
      const std::optional<Form> parsed = parse_form(form);
      if (!parsed) {
        std::vector<std::string> known;
        for (const Form any : all_forms()) known.push_back(to_string(any));
        throw unknown_name(*one.value, "form", form, known);
      }
      check_form(*one.value, tensor, *parsed);
      made_.forms[tensor] = to_string(*parsed);
    });
    problems_.attempt([&] { check_impl_takes_forms(*forms->key); });
  }

  void read_cache() {
    const Node::Entry* cache = node_.find_entry("cache");
    if (cache == nullptr) return;
    const std::vector<std::string> words{std::string(name_of(Cache::Hot)), std::string(name_of(Cache::Cold))};
    const std::string& word = tuning_text(*cache);
    if (std::ranges::find(words, word) == words.end())
      throw unknown_name(*cache->value, "cache", word, words);
    made_.cache = word == words.back() ? Cache::Cold : Cache::Hot;
  }

  void read_tune() {
    const Node::Entry* tune = nullptr;
    if (!problems_.attempt([&] { tune = &needed("tune"); })) return;
    std::vector<std::string> known;
    for (const Tunable& tunable : impl_->tunables) known.push_back(tunable.name);
    read_map(*tune, "a map of tunables and their values", problems_, [&](const Node::Entry& one) {
      const auto found = std::ranges::find(impl_->tunables, one.key->text, &Tunable::name);
      if (found == impl_->tunables.end()) {
        throw unknown_name(*one.key, fmt::format("tunable of {} impl '{}':", op_->name, impl_->name),
                           one.key->text, known);
      }
      const std::int64_t value = to_integer(*one.value, {one.key, found->name});
      if (!found->allows(value)) {
        throw Problem(diagnose(
            *one.key, fmt::format("tune.{} must be {} {}, got {}", found->name,
                                  found->allowed.empty() ? "in" : "one of", found->range_text(), value)));
      }
      made_.tune[found->name] = value;
    });
    if (tune->value->is_map() && tune->value->entries.empty())
      problems_.add(Problem(diagnose(*tune->key, "'tune' sets nothing")));
  }

  static double positive(const Node& value, const Spot& spot) {
    const double number = to_number(value, spot);
    if (number > 0) return number;
    throw Problem(diagnose(*spot.caret, fmt::format("'{}' must be more than 0, got {}", spot.name, number)));
  }

  static std::int64_t at_least_one(const Node& value, const Spot& spot) {
    const std::int64_t number = to_integer(value, spot);
    if (number > 0) return number;
    throw Problem(diagnose(*spot.caret, fmt::format("'{}' must be 1 or more, got {}", spot.name, number)));
  }

  void read_figures() {
    if (const Node::Entry* ratio = node_.find_entry("ratio"))
      made_.ratio = positive(*ratio->value, {ratio->key, "ratio"});
    if (const Node::Entry* interval = node_.find_entry("interval")) {
      const Spot spot{interval->key, "interval"};
      const Node& list = *interval->value;
      if (!list.is_list() || list.items.size() != 2) wrong_type(list, spot, "a list of two numbers");
      made_.ratio_low = positive(*list.items[0], spot);
      made_.ratio_high = positive(*list.items[1], spot);
      if (made_.ratio_low > made_.ratio_high)
        throw Problem(diagnose(*interval->key, "'interval' ends before it begins"));
    }
    if (const Node::Entry* shapes = node_.find_entry("shapes"))
      made_.shapes = at_least_one(*shapes->value, {shapes->key, "shapes"});
    if (const Node::Entry* left_out = node_.find_entry("left_out_pct"))
      made_.left_out_pct = to_number(*left_out->value, {left_out->key, "left_out_pct"});
  }

  const Node& node_;
  const Registry& registry_;
  PossibleTensors& tensors_;
  const Op* op_ = nullptr;
  const Impl* impl_ = nullptr;
  Problems problems_;
  TuningEntry made_;
};

/// Two entries about one point would make the order of a file matter.
void refuse_overlap(const Node& node, const TuningEntry& entry, std::span<const TuningEntry> before) {
  for (const TuningEntry& earlier : before) {
    if (!entry.meets(earlier)) continue;
    throw Problem(diagnose(
        node,
        fmt::format("some point of {} impl '{}' has this entry and that of line {}: make their 'when' or "
                    "'forms' exclude each other",
                    entry.op, entry.impl, earlier.line)));
  }
}

void read_entries(const Node::Entry& list, const Registry& registry, Tuning& tuning, Reporter& reporter) {
  if (!list.value->is_list()) wrong_type(*list.value, {list.key, "entries"}, "a list of entries");
  if (list.value->items.size() > most_tuning_entries) {
    throw Problem(
        diagnose(*list.key, fmt::format("'entries' has {} entries, and a tuning file has at most {}",
                                        list.value->items.size(), most_tuning_entries)));
  }
  PossibleTensors tensors;
  for (const Node* node : list.value->items) {
    try {
      if (node->is_null()) throw Problem(diagnose(*list.key, "an entry in this list is empty"));
      if (node->flawed) {
        reporter.add_flaws(*node);
        continue;
      }
      TuningEntry entry = EntryReader(*node, registry, tensors).read();
      refuse_overlap(*node, entry, tuning.entries);
      tuning.entries.push_back(std::move(entry));
    } catch (const Problem& problem) {
      reporter.add(problem);
    }
  }
}

Tuning read_file(const SourceFile& source, const Registry& registry, Reporter& reporter) {
  static const std::array<std::string, 4> keys{"device", "driver", "version", "entries"};
  Arena arena;
  const Node* root = parse_yaml(source, arena);
  if (root == nullptr || !root->is_map())
    throw Problem(source.diagnose({}, "a tuning file is a map with a 'device' and a list 'entries'"));
  if (!root->flaws.empty()) throw Problem(diagnose(root->flaws.front()));
  check_keys(*root, keys);
  Tuning tuning;
  tuning.device = tuning_text(required(*root, "device", *root, "the file"));
  if (const Node::Entry* driver = root->find_entry("driver")) tuning.driver = tuning_text(*driver);
  if (const Node::Entry* version = root->find_entry("version")) tuning.version = tuning_text(*version);
  read_entries(required(*root, "entries", *root, "the file"), registry, tuning, reporter);
  return tuning;
}

}  // namespace
}  // namespace assay::cases

namespace assay {

TuningResult load_tuning(const std::filesystem::path& file, const Registry& registry) {
  cases::Reporter reporter;
  TuningResult result;
  try {
    const cases::SourceFile source = cases::SourceFile::read(file);
    result.hash = hash_hex(source.text());
    Tuning tuning = cases::read_file(source, registry, reporter);
    if (reporter.size() == 0) result.tuning = std::move(tuning);
  } catch (const cases::Problem& problem) {
    reporter.add(problem);
  }
  result.errors = reporter.take();
  return result;
}

}  // namespace assay
