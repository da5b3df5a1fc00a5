#pragma once

#include "harness/cases/case.h"
#include "harness/cases/expand.h"
#include "harness/cases/param_value.h"

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

/// `fill:` one for all inputs, or one for each that is named.
struct FillSetting {
  std::optional<FillSpec> all;
  PlacedMap<FillSpec> by_tensor;
};

/// A form as a case writes it; none: buffer/CONV2D, for which the impl says what it is.
using WrittenForm = std::optional<Form>;

struct FormsSetting {
  PlacedMap<WrittenForm> by_tensor;
};

/// `expected:` resolved files by output.
struct ExpectedSetting {
  PlacedMap<ArrayFile> files;
};

struct TuneSetting {
  PlacedMap<std::int64_t> constants;
};

/// What one key of a case says, typed, but not yet held against the tensors and the impl of a point.
struct Setting {
  std::string key;  ///< a parameter or one of setting_keys(), but "with" and "qparams"
  Origin origin;
  std::variant<Value, FillSetting, FormsSetting, ExpectedSetting, Tolerance, TuneSetting, std::uint64_t,
               const Impl*>
      value;
};

/// Reads values without `each` and names of sets into settings.
class SettingReader {
 public:
  SettingReader(const Op& op, const Sets& sets);

  /// What `key: value` says: one setting, or several for `qparams` and `with`. Throws Problem.
  std::vector<Setting> read(const std::string& key, const Origin& origin) const;

  /// Keys that stand for values of a case: those below and the op's parameters.
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

/// Keys of a case that say its values, parameters aside: "fill", "impl", ...
std::span<const std::string> setting_keys();

/// "name", "mode", "tier", "cache", "timeout": one for the whole case, no axes.
bool is_head_key(std::string_view key);

/// True for every key of the case language but the parameters: no op may name a parameter so.
bool is_reserved(std::string_view key);

/// "buffer/WP", ...: every form there is; buffer/CONV2D last, where the op knows it.
std::vector<std::string> form_names(const Op& op);
/// "normal", ...
const std::vector<std::string>& fill_names();

/// Throws Problem at `caret` when the name of a file has a NUL: the system would take what stands before it.
void refuse_nul(const Node& caret, const std::string& name);

}  // namespace assay::cases
