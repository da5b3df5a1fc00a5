#pragma once

#include "harness/base/error.h"
#include "harness/base/shared.h"
#include "harness/op/op.h"
#include "harness/op/params.h"
#include "harness/tensor/fill/fill.h"
#include "harness/tensor/form.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Mode : std::uint8_t { Accu, Perf, Both };
enum class Tier : std::uint8_t { Smoke, Ci, Nightly };

/// Says which rows a timed case has: with data in the cache, with data in memory, or one of each.
enum class Caches : std::uint8_t { Hot, Cold, Both };

std::string_view name_of(Mode mode);      ///< "accu", "perf", "both"
std::string_view name_of(Tier tier);      ///< "smoke", "ci", "nightly"
std::string_view name_of(Caches caches);  ///< "hot", "cold", "both"
std::optional<Mode> parse_mode(std::string_view name);
std::optional<Tier> parse_tier(std::string_view name);
std::optional<Caches> parse_caches(std::string_view name);

/// The `tolerance:` of a case. `scale` multiplies the bounds of bounded outputs and the bands of banded ones:
/// below 1 it tightens them, above 1 it loosens them. The other members give an allowance to elements that
/// their output's class rejects: within abs + rel * |expected|, within `ulp` units in the last place of the
/// expected value (floats), or off by at most `off_by` (integers). They apply to bounded outputs and to
/// outputs with an `expected:` file. Loosening needs a reason.
struct Tolerance {
  double scale = 1;
  double abs = 0;
  double rel = 0;
  double ulp = 0;
  double off_by = 0;  ///< a whole number
  double share = 1;   ///< largest share of an output's elements that may need the allowance
  std::string reason;

  bool has_allowance() const { return abs > 0 || rel > 0 || ulp > 0 || off_by > 0; }
};

/// Returns the members that differ from the defaults, except the reason: "off_by=1 share=0.001". Empty if
/// none differs.
std::string to_string(const Tolerance& tolerance);

/// Says where a case writes `buffer/CONV2D`. The case's id keeps the alias; its `forms` have what the alias
/// stands for.
struct Conv2dAlias {
  std::vector<std::size_t> tensors;  ///< tensors whose form is the alias, ascending
  /// Impl `auto` resolves the alias on a device (DeviceCases); until then `forms` have the defaults.
  bool awaits_device = false;

  bool covers(std::size_t tensor) const;
  friend bool operator==(const Conv2dAlias&, const Conv2dAlias&) = default;
};

/// What a tuning file says of a case on a device: values for tunables that the case does not set itself.
struct TunedDefaults {
  const Impl* impl = nullptr;  ///< the case's impl, or the one that its impl `auto` chooses on the device
  Tune values;
  int line = 0;  ///< of the entry in the tuning file
};

/// One point of a product in a case file, checked against its op's declaration. There may be millions, so
/// points of one product share what they have in common.
struct Case {
  std::string id;    ///< "q8ta_pixel_shuffle/small/1x96x16x9/same/4W4C.4C1W/fused"
  std::string name;  ///< "small"
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  std::shared_ptr<const Op> own_op;  ///< `op`, if a case file declares it: a chain. Null for the registry's
  Shared<Params> params;
  Shared<std::vector<TensorSpec>> tensors;                  ///< op->tensors(params)
  std::vector<Form> forms;                                  ///< one per tensor
  Conv2dAlias conv2d;                                       ///< tensors whose form is an alias
  Shared<std::map<std::string, FillSpec>> fills;            ///< one per input tensor, by name
  Shared<std::map<std::string, ArrayFile>> expected_files;  ///< output name -> resolved file
  Shared<Tolerance> tolerance;
  std::map<std::string, std::int64_t> tune;
  std::shared_ptr<const TunedDefaults> tuned;  ///< on a device with a tuning file (TunedRows); null: none
  Mode mode = Mode::Accu;
  Tier tier = Tier::Ci;
  Caches caches = Caches::Hot;  ///< for mode perf
  std::uint64_t seed = 0;
  double timeout_s = 60;
  std::string model;        ///< the model that the shape comes from
  std::string layer;        ///< the layer within the model
  std::int64_t calls = 0;   ///< how often one step of the model calls the layer; 0: unknown
  std::int64_t tokens = 0;  ///< tokens of that step; 0: as many as the op says
  Shared<SourceLocation> where;
  /// Hash of op, parameters, fills, seed and expected files. Cases with equal keys share one data set and one
  /// reference. It does not depend on name, impl, forms, tier, mode or model.
  std::uint64_t data_key = 0;
  /// The impl's declared constraint that excludes this point, or why a form cannot hold its tensor. The row's
  /// status is then INVALID.
  std::optional<std::string> invalid;
};

/// Returns the tunables that the case has when `impl` computes it: those that it sets, and those of `tuned`.
Tune tune_for(const Case& test_case, const Impl& impl);

/// Returns the physical form of each tensor.
std::vector<Physical> physical_tensors(const Case& test_case);

/// Computes `Case::invalid` for the case's current forms.
std::optional<std::string> why_invalid(const Case& test_case);

}  // namespace assay

namespace assay::cases {

/// Holds the cases loaded so far and looks them up by id.
class CaseList {
 public:
  std::size_t size() const { return cases_.size(); }
  /// Reserves space for N more cases.
  void expect(std::size_t more);
  /// Returns the case with that id, or null. Adding a case may invalidate the pointer.
  const Case* find(std::string_view id) const;
  /// Adds a case whose id is new.
  void add(Case added);
  /// Returns all cases in the order they were added.
  std::vector<Case> take() &&;

 private:
  /// Where a case with that hash is. Ids are compared in the cases themselves, so that those of a million
  /// cases are not stored twice.
  struct Slot {
    std::uint32_t hash = 0;   ///< lower half of the id's hash
    std::uint32_t place = 0;  ///< the case's index plus 1; 0: the slot is empty
  };

  void grow_table(std::size_t cases);
  void insert(Slot slot);

  std::vector<Case> cases_;
  std::vector<Slot>
      table_;  ///< open addressing; its size is a power of two, and at least half of it is empty
};

}  // namespace assay::cases
