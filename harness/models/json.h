#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::models {

using Json = nlohmann::json;

/// Parses JSON that somebody else wrote. Throws Error that names `file` and what is wrong: no JSON, no
/// object, more than 32 levels, more than a million values, or a key that is written twice.
Json parse_json(std::string_view text, std::string_view file);

/// Reads members of an object by type. `null` counts as absent. Errors name the file and the member.
class JsonObject {
 public:
  /// Both must outlive this.
  JsonObject(const Json& object, std::string_view file) : object_(object), file_(file) {}

  /// Returns the value, or nothing if there is none.
  const Json* find(const char* name) const;
  std::optional<std::int64_t> integer(const char* name) const;
  std::optional<double> number(const char* name) const;
  std::optional<bool> boolean(const char* name) const;
  std::optional<std::string> text(const char* name) const;
  /// Throws Error if there is none.
  std::int64_t required_integer(const char* name) const;

 private:
  [[noreturn]] void fail(const char* name, std::string_view wanted) const;

  const Json& object_;
  std::string_view file_;
};

}  // namespace assay::models
