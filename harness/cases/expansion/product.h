#pragma once

#include "harness/cases/expansion/point.h"
#include "harness/cases/expansion/setting.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::cases {

/// One choice for a factor of a product, with its segments of the id.
struct Choice {
  std::vector<Setting> settings;
  std::vector<std::string> segments;
  /// Keys whose value was unreadable, which was reported. Points with this choice have no value for them.
  std::vector<std::string> bad_keys;
};

struct Factor {
  std::string key;
  std::vector<Choice> choices;

  /// Returns whether points with different choices may have different data.
  bool changes_data() const;
};

/// The product of a case's factors. Points are numbered with the last factor varying fastest.
class Product {
 public:
  explicit Product(std::vector<Factor> factors);

  /// Returns the number of points, saturating.
  std::uint64_t size() const { return size_; }
  /// Returns the factors with more than one choice: "shape 3 x impl 2".
  std::string text() const;
  /// Returns one point. It refers to the product.
  PointChoice at(std::uint64_t index) const;
  /// Says which choice a point has for each factor whose key `is_left_out` does not name: "shape 2 impl 0".
  std::string choices_of(std::uint64_t index,
                         const std::function<bool(const std::string&)>& is_left_out) const;

 private:
  std::vector<Factor> factors_;
  std::vector<bool> changes_data_;  ///< per factor
  std::uint64_t size_ = 1;
  bool repeats_data_ = false;  ///< some points share their data with others
};

}  // namespace assay::cases
