#pragma once

#include "harness/cases/case.h"
#include "harness/cases/tuning/tuning.h"
#include "harness/commands/tune/search.h"
#include "harness/device/device_info.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// One timed case whose impl is tuned, with one cache: a point of the op's parameters.
struct TuningPoint {
  Case base;                     ///< of that impl, timed alone, hot or cold, with nothing tuned
  std::vector<std::int64_t> at;  ///< its whole numbers: integers, and the values of shapes and lists
  bool is_also_hot = false;      ///< it is cold, and the case asks for both: few tensors are too small
};

/// Points that differ in whole numbers alone: an entry of a tuning file may be about several of them.
struct TuningClass {
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  std::map<std::string, TuningCondition> words;  ///< choices and booleans, by parameter
  std::map<std::string, std::string> forms;      ///< of tensors that may have several, by tensor
  Caches caches = Caches::Hot;                   ///< hot or cold: a time in one says little of the other
  std::vector<TuningPoint> points;               ///< each another place

  /// The conditions of an entry about this class and a box of places.
  std::map<std::string, TuningCondition> conditions(std::span<const ValueRange> box) const;
  /// "q8ta_linear coopmat epilogue=float32 x=buffer/4W"
  std::string text() const;
};

/// "M=64 K=4096 N=4096"
std::string place_text(const TuningPoint& point);

/// The classes of these timed cases on a device, in their order. Impl `auto` stands for the one that it
/// chooses; a case with cache `both` is a hot point and a cold one. Cases that set tunables or take data from
/// files, chains, cases that do not run on the device, impls without tunables, and points that differ from
/// another one only in what conditions cannot say (real numbers, fills) are left out.
std::vector<TuningClass> tuning_classes(std::span<const Case* const> cases, const DeviceInfo& device);

/// The candidates of an impl at a point, which set the tunables of these names only (empty: all). A tunable
/// without a list of values has the powers of two in its range and both ends, or every value if they are few.
TuningSpace tuning_space(const TuningPoint& point, const DeviceInfo& device,
                         const std::vector<std::string>& tunables = {});

/// The values that a candidate sets.
Tune tune_of(const TuningSpace& space, const Candidate& candidate);

/// The point's case with these values.
Case with_tune(const TuningPoint& point, Tune tune);

/// "tile_m=64 tile_n=32"; "defaults" if nothing is set.
std::string candidate_text(const Tune& tune);

}  // namespace assay::app
