#include "harness/models/json.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace assay::models {
namespace {

constexpr std::size_t most_json_levels = 32;
constexpr std::size_t most_json_values = 1'000'000;

/// Looks at what a parser finds, before it grows.
class Guard {
 public:
  explicit Guard(std::string_view file) : file_(file) {}

  bool take(Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (names_.size() == most_json_levels)
        fail(fmt::format("it is nested more than {} deep", most_json_levels));
      names_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      names_.pop_back();
    } else if (event == Event::key) {
      note_key(value.get_ref<const std::string&>());
    }
    if (++values_ > 2 * most_json_values) fail(fmt::format("it has more than {} values", most_json_values));
    return true;
  }

 private:
  void note_key(const std::string& key) {
    if (!names_.back().insert(key).second)
      fail(fmt::format("'{}' is written twice", printable_line(shortened(key, 80))));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("reading the model {}: {}", printable_line(file_), what));
  }

  std::string_view file_;
  std::vector<std::set<std::string>> names_;  ///< the keys of each object that is open
  std::size_t values_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view file) {
  Guard guard(file);
  const auto look = [&](int, Json::parse_event_t event, const Json& value) {
    return guard.take(event, value);
  };
  try {
    Json json = Json::parse(text, look);
    if (json.is_object()) return json;
  } catch (const Json::exception& error) {
    throw Error(fmt::format("reading the model {}: it is no valid JSON: {}", printable_line(file),
                            printable_line(shortened(error.what(), 200))));
  }
  throw Error(fmt::format("reading the model {}: it is no JSON object", printable_line(file)));
}

void JsonObject::fail(const char* name, std::string_view wanted) const {
  throw Error(fmt::format(
      "reading the model {}: '{}' must be {}, it is {}", printable_line(file_), name, wanted,
      printable_line(shortened(object_[name].dump(-1, ' ', false, Json::error_handler_t::replace), 60))));
}

const Json* JsonObject::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::int64_t> JsonObject::integer(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const bool is_large = value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{most};
  if (!value->is_number_integer() || is_large) fail(name, "an integer of 64 bits");
  return value->get<std::int64_t>();
}

std::optional<double> JsonObject::number(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail(name, "a number");
  return value->get<double>();
}

std::optional<bool> JsonObject::boolean(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(name, "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonObject::text(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(name, "text");
  return value->get<std::string>();
}

std::int64_t JsonObject::required_integer(const char* name) const {
  const std::optional<std::int64_t> value = integer(name);
  if (value) return *value;
  throw Error(fmt::format("reading the model {}: '{}' is missing", printable_line(file_), name));
}

}  // namespace assay::models
