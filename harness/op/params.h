#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

/// Affine quantization of one tensor: real = scale * (q - zero_point).
struct QParams {
  float scale = 1;
  std::int32_t zero_point = 0;
  friend bool operator==(const QParams&, const QParams&) = default;
};

using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, QParams>;

/// Returns the value as written in ids and reports: "2", "0.5", "true", "i8", "1x96x16x9", "0.007112:0".
std::string to_string(const Value& value);

/// The parameters of one case, checked against the op's declaration: every declared parameter is present with
/// the declared type. Asking for another name or type throws std::logic_error.
class Params {
 public:
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  bool has(std::string_view name) const;
  const Value& at(std::string_view name) const;

  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool boolean(std::string_view name) const;
  const std::string& choice(std::string_view name) const;
  const std::vector<std::int64_t>& ints(std::string_view name) const;  ///< shapes and lists
  const QParams& qparams(std::string_view name) const;

  const std::map<std::string, Value, std::less<>>& all() const { return values_; }
  /// Returns "name=value" pairs in the order of names. Equal parameters give equal text.
  std::string canonical() const;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

/// Declares one parameter of an op: its type, range and default. Built by the functions below; read by the
/// case loader (errors), `assay ops` and `assay schema` (documentation).
struct ParamSpec {
  enum class Kind : std::uint8_t { Shape, Integer, Number, Boolean, Choice, Ints, QParams };

  std::string name;
  Kind kind = Kind::Integer;
  std::string doc;
  std::optional<Value> fallback;  ///< if there is neither this nor `derive`, the parameter is required
  /// Computes a default from the parameters declared before this one; `doc` says how.
  std::function<Value(const Params&)> derive;

  std::int64_t min_integer = std::numeric_limits<std::int32_t>::min();
  std::int64_t max_integer = std::numeric_limits<std::int32_t>::max();
  double min_number = -std::numeric_limits<double>::infinity();
  double max_number = std::numeric_limits<double>::infinity();
  bool positive = false;  ///< Number: > 0
  int min_rank = 1;       ///< Shape and Ints: number of entries
  int max_rank = 4;
  std::vector<std::string> choices;
  std::int64_t zero_point_min = -128;  ///< QParams
  std::int64_t zero_point_max = 127;

  ParamSpec& at_least(std::int64_t low) & {
    min_integer = low;
    return *this;
  }
  ParamSpec&& at_least(std::int64_t low) && {
    min_integer = low;
    return std::move(*this);
  }
  ParamSpec&& at_most(std::int64_t high) && {
    max_integer = high;
    return std::move(*this);
  }
  ParamSpec&& by_default(Value value) && {
    fallback.emplace(std::move(value));
    return std::move(*this);
  }
  ParamSpec&& derived(std::function<Value(const Params&)> from) && {
    derive = std::move(from);
    return std::move(*this);
  }
  ParamSpec&& says(std::string text) && {
    doc = std::move(text);
    return std::move(*this);
  }

  /// Throws ParameterError if `value` has the wrong type or is out of range. The error's parameter is the
  /// name, or "name.scale" or "name.zero_point".
  void check(const Value& value) const;
  /// Returns the default, given the parameters declared before; nothing if the parameter is required.
  std::optional<Value> default_for(const Params& earlier) const;
};

/// The number of entries of a shape or list.
struct Rank {
  int min = 1, max = 4;
};
constexpr Rank rank(int exactly) {
  return {exactly, exactly};
}
constexpr Rank rank(int min, int max) {
  return {min, max};
}

ParamSpec shape(std::string name, Rank rank = {});  ///< dims >= 1, product <= 2^40
ParamSpec integer(std::string name);                ///< fits int32 unless restricted further
ParamSpec number(std::string name);                 ///< finite
ParamSpec boolean(std::string name);
ParamSpec choice(std::string name, std::vector<std::string> choices);
ParamSpec ints(std::string name, Rank rank = {});
ParamSpec qparams(std::string name, std::int64_t zero_point_min = -128, std::int64_t zero_point_max = 127);

}  // namespace assay
