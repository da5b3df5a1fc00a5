#pragma once

#include "harness/cases/case.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/expansion/param_value.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::cases {

/// A value and where it was written.
template <class T>
struct Placed {
  T value;
  Origin origin;
};

template <class T>
using PlacedMap = std::map<std::string, Placed<T>>;

/// `fill:` as one fill for all inputs, or one for each named input.
struct FillSetting {
  std::optional<FillSpec> all;
  PlacedMap<FillSpec> by_tensor;
};

struct FormsSetting {
  PlacedMap<WrittenForm> by_tensor;
};

/// `expected:` with resolved files by output.
struct ExpectedSetting {
  PlacedMap<ArrayFile> files;
};

struct TuneSetting {
  PlacedMap<std::int64_t> constants;
};

/// The value of one key of a case, typed but not yet checked against the tensors and the impl of a point.
struct Setting {
  std::string key;  ///< a parameter or one of setting_keys(), except "with" and "qparams"
  Origin origin;
  std::variant<Value, FillSetting, FormsSetting, ExpectedSetting, Tolerance, TuneSetting, std::uint64_t,
               const Impl*>
      value;
};

/// Turns values without `each` and names of sets into settings.
class SettingReader {
 public:
  SettingReader(const Op& op, const Sets& sets);

  /// Reads `key: value` into one setting, or several for `qparams` and `with`. Throws Problem.
  std::vector<Setting> read(const std::string& key, const Origin& origin) const;

  /// Returns the keys that stand for values of a case: setting_keys() and the op's parameters.
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  void read_into(std::vector<Setting>& settings, const std::string& key, const Origin& origin) const;
  void read_with(std::vector<Setting>& settings, const Origin& origin) const;
  void read_qparams(std::vector<Setting>& settings, const Origin& origin) const;
  FillSetting read_fill(const Origin& origin) const;
  FillSpec read_fill_spec(const Origin& origin, const std::string& name) const;
  FormsSetting read_forms(const Origin& origin) const;
  const Impl* read_impl(const Origin& origin) const;

  const Op& op_;
  std::vector<std::string> keys_;
  std::vector<std::string> set_names_;
};

/// Returns the keys of a case that give its values, without parameters: "fill", "impl", ...
std::span<const std::string> setting_keys();

/// Returns whether the key is "name", "mode", "tier", "cache" or "timeout": one value for the whole case,
/// never an axis.
bool is_head_key(std::string_view key);

/// Returns whether the key belongs to the case language, so that no op may name a parameter so.
bool is_reserved(std::string_view key);

/// Returns the names of fills: "normal", ...
const std::vector<std::string>& fill_names();

/// Throws Problem at `caret` if a file name contains NUL, where the system would cut it off.
void refuse_nul(const Node& caret, const std::string& name);

}  // namespace assay::cases
