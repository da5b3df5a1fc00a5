#include "harness/cases/expansion/case_head.h"

#include "harness/cases/expansion/id_text.h"
#include "harness/cases/yaml/scalars.h"

#include <fmt/format.h>

#include <algorithm>

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
    throw Problem(
        diagnose(*entry.key, fmt::format("a name may have only letters, digits and '_', got '{}'", name)));
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

}  // namespace assay::cases
