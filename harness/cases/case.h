#pragma once

#include "harness/base/source_location.h"
#include "harness/op/op.h"
#include "harness/op/params.h"
#include "harness/tensor/fill.h"
#include "harness/tensor/form.h"

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

/// What a case's `tolerance:` says. Bounds of the reference are multiplied by `scale`: below 1
/// tightens; above 1 loosens and needs a reason.
struct Tolerance {
  double scale = 1;
  std::string reason;
};

/// One point of a product in a case file, checked against its op's declaration.
struct Case {
  std::string id;    ///< "q8ta_pixel_shuffle/small/1x96x16x9/same/4W4C.4C1W/fused"
  std::string name;  ///< "small"
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  Params params;
  std::vector<TensorSpec> tensors;                    ///< op->tensors(params)
  std::vector<Form> forms;                            ///< one per tensor
  std::map<std::string, FillSpec> fills;              ///< one per input tensor, by name
  std::map<std::string, std::string> expected_files;  ///< output name -> resolved .npy path
  Tolerance tolerance;
  std::map<std::string, std::int64_t> tune;
  Mode mode = Mode::Accu;
  Tier tier = Tier::Ci;
  Caches caches = Caches::Hot;  ///< mode perf
  std::uint64_t seed = 0;
  double timeout_s = 60;
  SourceLocation where;
  /// Hash of op, parameters, fills and seed, expected files too: cases with equal keys share one data set and
  /// one reference. Never depends on name, impl, forms, tier or mode.
  std::uint64_t data_key = 0;
  /// The impl's declared constraint that excludes this point, or the form that cannot hold its tensor: status
  /// INVALID.
  std::optional<std::string> invalid;
};

/// Physical form of each of the tensors.
std::vector<Physical> physical_tensors(const Case& test_case);

}  // namespace assay
