#pragma once

#include "harness/report/record/record.h"

#include <map>
#include <set>
#include <span>
#include <string>

namespace assay {

/// Short headings for groups of cases: op, shape and those parameters that tell the shown cases of the op
/// apart. A parameter that has one value in all of them is in common() instead, one that only repeats the
/// shape is left out. Cases that differ in op, shape or parameters never get the same heading.
class Headings {
 public:
  /// `shown` are the records of all groups that stand in one table.
  explicit Headings(std::span<const Record* const> shown);

  /// "q8ta_pixel_shuffle  1x96x16x9  y=0.013:5", printable. `info` is of one of the records shown.
  std::string of(const RowInfo& info) const;
  /// What all shown cases of an op have in common: "upscale_factor=2 x=0.5:0", printable; may be empty.
  std::string common(const std::string& op) const;

 private:
  struct OpWords {
    std::set<std::string> common;  ///< "name=value" words that every shown case of the op has
    bool repeats_shape = false;    ///< every one has "shape=" and there the shape
  };

  std::map<std::string, OpWords> ops_;
};

}  // namespace assay
