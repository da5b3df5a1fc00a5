#pragma once

// How each kind of field is written as JSON and read back. Only for .cpp files that encode or
// decode: it includes all of nlohmann's header.

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/journal/record_fields.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::json_fields {

using Json = nlohmann::ordered_json;

template <class T>
concept Map = requires {
  typename T::mapped_type;
};
template <class T>
concept List = !std::same_as<T, std::string> && !Map<T> && requires(T & x) {
  x.begin();
  x.size();
};

/// How a struct is written as an object.
enum class Style {
  Full,     ///< every member
  Compact,  ///< as in the journal: without members that have their initial value; whole numbers without ".0"
};

template <class T>
Json encode(const T& value, Style style);

/// Visits the members of a struct and collects them as an object; an absent optional is left out.
struct Writer {
  Style style;
  Json object = Json::object();
  Json initial = Json::object();  ///< members equal to these values need not be written

  template <class T>
  void operator()(const char* name, const T& value, FieldRule rule = {}) {
    Json json = encode(value, style);
    if (!rule.always && is_initial(name, json)) return;
    object[name] = std::move(json);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) object[name] = encode(*value, style);
  }

 private:
  bool is_initial(const char* name, const Json& json) const {
    const auto found = initial.find(name);
    return found != initial.end() && found->type() == json.type() && *found == json;
  }
};

/// Writes a whole number as an integer: "3536160", not "3536160.0". Negative zero keeps its sign.
inline Json number(double value) {
  constexpr double exact = 9007199254740992;  // 2^53
  const bool whole = std::trunc(value) == value && std::fabs(value) <= exact;
  return whole && !(value == 0 && std::signbit(value)) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

template <class T>
Json encode_members(const T& value, Style style) {
  static const Json initial = [] {
    Writer writer{Style::Compact};
    const T fresh{};
    fields(writer, fresh);
    return std::move(writer.object);
  }();
  Writer writer{style};
  if (style == Style::Compact) writer.initial = initial;
  fields(writer, value);
  return std::move(writer.object);
}

template <class T>
Json encode(const T& value, Style style) {
  if constexpr (std::same_as<T, std::string>) {
    return valid_utf8(value);
  } else if constexpr (std::floating_point<T>) {
    if (!std::isfinite(value)) return shortest(value);
    return style == Style::Compact ? number(value) : Json(value);
  } else if constexpr (std::integral<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name_of(value));
  } else if constexpr (Map<T>) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object[valid_utf8(key)] = encode(item, style);
    return object;
  } else if constexpr (List<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(encode(item, style));
    return list;
  } else {
    return encode_members(value, style);
  }
}

/// A value as messages quote it, shortened if it is long.
inline std::string brief(const Json& json) {
  constexpr std::size_t longest = 60;
  if (json.is_structured() && !json.empty())
    return (json.is_array() ? "a list of " : "an object of ") + std::to_string(json.size());
  if (json.is_string()) return '"' + shortened(printable(json.get_ref<const std::string&>()), longest) + '"';
  return json.dump();
}

[[noreturn]] inline void throw_field_error(const std::string& path, const char* wanted, const Json& json) {
  throw Error("the field '" + shortened(printable(path), 200) + "' should be " + wanted + " and is " +
              brief(json));
}

/// Refuses a time that no sample can have: a negative one, no number, or one whose sums and squares would
/// overflow.
inline void check_time(double time, const char* path) {
  constexpr double longest = 1e18;  // 30 years in ns
  if (!(time >= 0 && time <= longest))
    throw Error(std::string("the field '") + path + "' holds " + shortest(time) + ", which is not a time");
}

/// Refuses a negative time, or another quantity.
inline void check_not_negative(double value, const char* path, const char* quantity = "time") {
  if (value < 0) {
    throw Error(std::string("the field '") + path + "' is " + shortest(value) + ", and no " + quantity +
                " is negative");
  }
}

/// The enumerator with this name among those up to `last`.
template <class E>
std::optional<E> named(const std::string& name, E last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
  }
  return std::nullopt;
}
inline std::optional<Status> parse_enum(const std::string& name, Status) {
  return parse_status(name);
}
inline std::optional<OutputClass> parse_enum(const std::string& name, OutputClass) {
  return named(name, OutputClass::Bounded);
}
inline std::optional<Storage> parse_enum(const std::string& name, Storage) {
  return named(name, Storage::Texture2D);
}
inline std::optional<DType> parse_enum(const std::string& name, DType) {
  return parse_dtype(name);
}
inline std::optional<TimerQuality> parse_enum(const std::string& name, TimerQuality) {
  return named(name, TimerQuality::Broken);
}
inline std::optional<MatrixExtension> parse_enum(const std::string& name, MatrixExtension) {
  return named(name, MatrixExtension::Khr);
}
inline std::optional<Feature> parse_enum(const std::string& name, Feature) {
  return named(name, Feature::CooperativeMatrixNv);
}

/// The place of a value in the JSON, for messages.
struct Place {
  std::string_view name;
  const Place* above = nullptr;

  Place member(std::string_view of_member) const { return {of_member, this}; }
  /// The value's name in messages. It is made only when needed, as there are many values.
  std::string path() const { return (above ? above->path() + "." : std::string()) + std::string(name); }
};

template <class T>
T decode(const Json& json, const Place& place);

/// Visits the members of a struct and fills them from an object. Unknown members are passed over: a newer
/// assay of the same schema may have added some. What is not there keeps its initial value.
struct Reader {
  const Json& object;
  Place place;

  template <class T>
  void operator()(const char* name, T& value, FieldRule rule = {}) {
    const auto found = object.find(std::string_view(name));
    if (found != object.end()) {
      value = decode<T>(*found, place.member(name));
    } else if (rule.always) {
      throw Error("the field '" + place.member(name).path() + "' is missing");
    }
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    const auto found = object.find(std::string_view(name));
    if (found != object.end()) value = decode<T>(*found, place.member(name));
  }
};

template <std::floating_point T>
T decode_float(const Json& json, const Place& place) {
  if (json.is_number()) return json.get<T>();
  if (json == "nan") return std::numeric_limits<T>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<T>::infinity();
  if (json == "-inf") return -std::numeric_limits<T>::infinity();
  throw_field_error(place.path(), R"(a number, "nan", "inf" or "-inf")", json);
}

template <std::integral T>
T decode_integer(const Json& json, const Place& place) {
  if (json.is_number_unsigned()) {
    if (std::in_range<T>(json.get<std::uint64_t>())) return json.get<T>();
  } else if (json.is_number_integer()) {
    if (std::in_range<T>(json.get<std::int64_t>())) return json.get<T>();
  }
  throw_field_error(place.path(), "a whole number in range", json);
}

template <class T>
T decode_list(const Json& json, const Place& place) {
  if (!json.is_array()) throw_field_error(place.path(), "a list", json);
  T list{};
  if constexpr (requires { list.push_back({}); }) {
    list.reserve(json.size());
    for (const Json& item : json) list.push_back(decode<typename T::value_type>(item, place));
  } else {
    if (json.size() != list.size()) throw_field_error(place.path(), "a list of the right length", json);
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = decode<typename T::value_type>(json[i], place);
  }
  return list;
}

template <class T>
T decode(const Json& json, const Place& place) {
  if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) throw_field_error(place.path(), "text", json);
    return json.get<std::string>();
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) throw_field_error(place.path(), "true or false", json);
    return json.get<bool>();
  } else if constexpr (std::floating_point<T>) {
    return decode_float<T>(json, place);
  } else if constexpr (std::integral<T>) {
    return decode_integer<T>(json, place);
  } else if constexpr (std::is_enum_v<T>) {
    const auto value = parse_enum(decode<std::string>(json, place), T{});
    if (!value) throw_field_error(place.path(), "a known name", json);
    return *value;
  } else if constexpr (List<T>) {
    return decode_list<T>(json, place);
  } else {
    if (!json.is_object()) throw_field_error(place.path(), "an object", json);
    T value{};
    if constexpr (Map<T>) {
      for (const auto& item : json.items()) {
        value[item.key()] = decode<typename T::mapped_type>(item.value(), place.member(item.key()));
      }
    } else {
      Reader reader{json, place};
      fields(reader, value);
    }
    return value;
  }
}

}  // namespace assay::json_fields
