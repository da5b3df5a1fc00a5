#pragma once

#include "harness/base/shared.h"
#include "harness/base/source_location.h"
#include "harness/op/op.h"
#include "harness/op/params.h"
#include "harness/tensor/fill.h"
#include "harness/tensor/form.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Mode : std::uint8_t { Accu, Perf, Both };
enum class Tier : std::uint8_t { Smoke, Ci, Nightly };

/// Which rows a timed case has: with data in the cache, with data in memory, one of each.
enum class Caches : std::uint8_t { Hot, Cold, Both };

std::string_view name_of(Mode mode);      ///< "accu", "perf", "both"
std::string_view name_of(Tier tier);      ///< "smoke", "ci", "nightly"
std::string_view name_of(Caches caches);  ///< "hot", "cold", "both"
std::optional<Mode> parse_mode(std::string_view name);
std::optional<Tier> parse_tier(std::string_view name);
std::optional<Caches> parse_caches(std::string_view name);

/// What a case's `tolerance:` says. `scale` multiplies the bounds of bounded outputs and the bands of banded
/// ones: below 1 tightens; above 1 loosens. The others are an allowance for elements that their output's
/// class refuses: within abs + rel * |expected|, within `ulp` units in the last place of the expected value
/// (floats), or off by no more than `off_by` (integers). They count for bounded outputs and for those with an
/// `expected:` file. Whatever loosens needs a reason.
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

/// "off_by=1 share=0.001": what differs from the default, the reason aside; empty when nothing does.
std::string to_string(const Tolerance& tolerance);

/// Where a case writes `buffer/CONV2D`. Its id keeps that; the case's `forms` have what it stands for.
struct Conv2dAlias {
  std::vector<std::size_t> tensors;  ///< whose form is written so, ascending
  /// Impl `auto` says what it stands for on a device (DeviceCases); until then `forms` have the default ones.
  bool awaits_device = false;

  bool covers(std::size_t tensor) const;
  friend bool operator==(const Conv2dAlias&, const Conv2dAlias&) = default;
};

/// One point of a product in a case file, checked against its op's declaration. There may be millions: what
/// points of one product have in common is there once.
struct Case {
  std::string id;    ///< "q8ta_pixel_shuffle/small/1x96x16x9/same/4W4C.4C1W/fused"
  std::string name;  ///< "small"
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  Shared<Params> params;
  Shared<std::vector<TensorSpec>> tensors;                  ///< op->tensors(params)
  std::vector<Form> forms;                                  ///< one per tensor
  Conv2dAlias conv2d;                                       ///< of which tensors the form is an alias
  Shared<std::map<std::string, FillSpec>> fills;            ///< one per input tensor, by name
  Shared<std::map<std::string, ArrayFile>> expected_files;  ///< output name -> resolved file
  Shared<Tolerance> tolerance;
  std::map<std::string, std::int64_t> tune;
  Mode mode = Mode::Accu;
  Tier tier = Tier::Ci;
  Caches caches = Caches::Hot;  ///< mode perf
  std::uint64_t seed = 0;
  double timeout_s = 60;
  std::string model;       ///< that the shape is from
  std::string layer;       ///< of the model
  std::int64_t calls = 0;  ///< of the layer in one step of the model; 0: not told
  Shared<SourceLocation> where;
  /// Hash of op, parameters, fills and seed, expected files too: cases with equal keys share one data set and
  /// one reference. Never depends on name, impl, forms, tier, mode or model.
  std::uint64_t data_key = 0;
  /// The impl's declared constraint that excludes this point, or the form that cannot hold its tensor: status
  /// INVALID.
  std::optional<std::string> invalid;
};

/// Physical form of each of the tensors.
std::vector<Physical> physical_tensors(const Case& test_case);

/// What `Case::invalid` says, with the forms that the case has now.
std::optional<std::string> why_invalid(const Case& test_case);

/// Whether two cases of an op ask for the same forms: those that are written CONV2D are, whatever it stands
/// for.
bool ask_for_same_forms(const Case& a, const Case& b);

}  // namespace assay
