#include "harness/cases/expansion/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace assay::cases {

bool Factor::changes_data() const {
  const auto is_data = [](const Setting& setting) { return is_data_key(setting.key); };
  return std::ranges::any_of(
      choices, [&](const Choice& choice) { return std::ranges::any_of(choice.settings, is_data); });
}

Product::Product(std::vector<Factor> factors) : factors_(std::move(factors)) {
  for (const Factor& factor : factors_) {
    size_ = saturating_multiply(size_, factor.choices.size());
    changes_data_.push_back(factor.changes_data());
    repeats_data_ = repeats_data_ || (!changes_data_.back() && factor.choices.size() > 1);
  }
}

std::string Product::text() const {
  std::string text;
  for (const Factor& factor : factors_) {
    if (factor.choices.size() == 1) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", factor.key, factor.choices.size());
  }
  return text;
}

PointChoice Product::at(std::uint64_t index) const {
  std::vector<const Choice*> chosen(factors_.size());
  std::uint64_t data = 0;
  std::uint64_t data_points = 1;
  for (std::size_t i = factors_.size(); i-- > 0;) {
    const std::uint64_t choices = factors_[i].choices.size();
    chosen[i] = &factors_[i].choices[index % choices];
    if (changes_data_[i]) {
      data += index % choices * data_points;
      data_points *= choices;
    }
    index /= choices;
  }
  PointChoice point;
  for (const Choice* choice : chosen) {
    point.settings.push_back(&choice->settings);
    point.segments.insert(point.segments.end(), choice->segments.begin(), choice->segments.end());
    point.bad_keys.insert(point.bad_keys.end(), choice->bad_keys.begin(), choice->bad_keys.end());
  }
  // A point without some of its values shares its data with no other.
  if (repeats_data_ && point.bad_keys.empty()) point.data = data;
  return point;
}

std::string Product::choices_of(std::uint64_t index,
                                const std::function<bool(const std::string&)>& is_left_out) const {
  std::multimap<std::string, std::uint64_t> chosen;  // by key, as the order of factors may differ
  for (std::size_t i = factors_.size(); i-- > 0;) {
    const std::uint64_t choices = factors_[i].choices.size();
    if (!is_left_out(factors_[i].key)) chosen.emplace(factors_[i].key, index % choices);
    index /= choices;
  }
  std::string text;
  for (const auto& [key, choice] : chosen) text += fmt::format("{} {} ", key, choice);
  return text;
}

}  // namespace assay::cases
