#pragma once

#include "harness/cases/point.h"
#include "harness/cases/setting.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::cases {

/// What may be chosen of one factor of a product, and its segments of the id.
struct Choice {
  std::vector<Setting> settings;
  std::vector<std::string> segments;
  /// Keys whose value could not be read, which was reported: points with this choice have none of them.
  std::vector<std::string> bad_keys;
};

struct Factor {
  std::string key;
  std::vector<Choice> choices;

  /// Whether points of other choices may have other data.
  bool changes_data() const;
};

/// The product of a case's factors. Points are counted in the order in which factors are written, the last
/// one fastest.
class Product {
 public:
  explicit Product(std::vector<Factor> factors);

  /// How many points it has, saturating.
  std::uint64_t size() const { return size_; }
  /// "shape 3 x impl 2": the factors that have more than one choice.
  std::string text() const;
  /// One of its points. It refers to the product.
  PointChoice at(std::uint64_t index) const;

 private:
  std::vector<Factor> factors_;
  std::vector<bool> changes_data_;  ///< by factor
  std::uint64_t size_ = 1;
  bool repeats_data_ = false;  ///< some points have the data of others
};

}  // namespace assay::cases
