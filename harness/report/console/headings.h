#pragma once

#include "harness/report/record/record.h"

#include <map>
#include <set>
#include <span>
#include <string>

namespace assay {

/// Short headings for groups of cases: op, shape and the parameters that distinguish the shown cases of the
/// op. A parameter with one value in all of them is in common() instead, and one that only repeats the shape
/// is left out. Cases that differ in op, shape or parameters never get the same heading.
class Headings {
 public:
  /// `shown` are the records of all groups in one table.
  explicit Headings(std::span<const Record* const> shown);

  /// The heading, printable: "q8ta_pixel_shuffle 1x96x16x9 y=0.013:5". `info` belongs to one of the shown
  /// records.
  std::string of(const RowInfo& info) const;
  /// The parameters that all shown cases of an op have in common: "upscale_factor=2 x=0.5:0", printable; may
  /// be empty.
  std::string common(const std::string& op) const;

 private:
  struct OpWords {
    std::set<std::string> common;  ///< "name=value" words that every shown case of the op has
    bool repeats_shape = false;    ///< every case has a parameter "shape=" that equals its shape
  };

  std::map<std::string, OpWords> ops_;
};

}  // namespace assay
