#pragma once

// How each kind of field is written as JSON and read back. For codec.cpp alone: it brings all of nlohmann's
// header along.

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/record/record_fields.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
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

template <class T>
Json encode(const T& value);

/// Visits the members of a struct and collects them as an object; an absent optional is left out.
struct Writer {
  Json object = Json::object();

  template <class T>
  void operator()(const char* name, const T& value, int /*since*/ = 1) {
    object[name] = encode(value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value, int /*since*/ = 1) {
    if (value) object[name] = encode(*value);
  }
};

template <class T>
Json encode(const T& value) {
  if constexpr (std::same_as<T, std::string>) {
    return valid_utf8(value);
  } else if constexpr (std::floating_point<T>) {
    return std::isfinite(value) ? Json(value) : Json(shortest(value));
  } else if constexpr (std::integral<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name_of(value));
  } else if constexpr (Map<T>) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object[valid_utf8(key)] = encode(item);
    return object;
  } else if constexpr (List<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(encode(item));
    return list;
  } else {
    Writer writer;
    fields(writer, value);
    return std::move(writer.object);
  }
}

[[noreturn]] inline void throw_field_error(const std::string& path, const char* wanted, const Json& json) {
  throw Error("the field '" + path + "' should be " + wanted + " and is " +
              shortened(json.dump(-1, ' ', false, Json::error_handler_t::replace), 60));
}

/// The enumerator of that name among those up to `last`.
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
inline std::optional<Feature> parse_enum(const std::string& name, Feature) {
  return named(name, Feature::CooperativeMatrixNv);
}

/// Where a value stands.
struct Place {
  std::string path;  ///< what messages call the value
  int schema;        ///< of the journal: its version decides which members must be there

  Place member(const std::string& name) const { return {path + "." + name, schema}; }
};

template <class T>
T decode(const Json& json, const Place& place);

/// Visits the members of a struct and fills them from an object. Unknown members are passed over: a newer
/// assay of the same schema may have added some.
struct Reader {
  const Json& object;
  Place place;

  template <class T>
  void operator()(const char* name, T& value, int since = 1) {
    const auto found = object.find(name);
    if (found != object.end()) {
      value = decode<T>(*found, place.member(name));
    } else if (place.schema >= since) {
      throw Error("the field '" + place.path + "." + name + "' is missing");
    }
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value, int /*since*/ = 1) {
    const auto found = object.find(name);
    if (found != object.end()) value = decode<T>(*found, place.member(name));
  }
};

template <std::floating_point T>
T decode_float(const Json& json, const Place& place) {
  if (json.is_number()) return json.get<T>();
  if (json == "nan") return std::numeric_limits<T>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<T>::infinity();
  if (json == "-inf") return -std::numeric_limits<T>::infinity();
  throw_field_error(place.path, R"(a number, "nan", "inf" or "-inf")", json);
}

template <std::integral T>
T decode_integer(const Json& json, const Place& place) {
  if (json.is_number_unsigned()) {
    if (std::in_range<T>(json.get<std::uint64_t>())) return json.get<T>();
  } else if (json.is_number_integer()) {
    if (std::in_range<T>(json.get<std::int64_t>())) return json.get<T>();
  }
  throw_field_error(place.path, "a whole number in range", json);
}

template <class T>
T decode_list(const Json& json, const Place& place) {
  if (!json.is_array()) throw_field_error(place.path, "a list", json);
  T list{};
  if constexpr (requires { list.push_back({}); }) {
    list.reserve(json.size());
    for (const Json& item : json) list.push_back(decode<typename T::value_type>(item, place));
  } else {
    if (json.size() != list.size()) throw_field_error(place.path, "a list of the right length", json);
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = decode<typename T::value_type>(json[i], place);
  }
  return list;
}

template <class T>
T decode(const Json& json, const Place& place) {
  if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) throw_field_error(place.path, "text", json);
    return json.get<std::string>();
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) throw_field_error(place.path, "true or false", json);
    return json.get<bool>();
  } else if constexpr (std::floating_point<T>) {
    return decode_float<T>(json, place);
  } else if constexpr (std::integral<T>) {
    return decode_integer<T>(json, place);
  } else if constexpr (std::is_enum_v<T>) {
    const auto value = parse_enum(decode<std::string>(json, place), T{});
    if (!value) throw_field_error(place.path, "a known name", json);
    return *value;
  } else if constexpr (List<T>) {
    return decode_list<T>(json, place);
  } else {
    if (!json.is_object()) throw_field_error(place.path, "an object", json);
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
