#include "harness/report/html/row_history.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// One row in all nights of its track; null for a night that does not have it.
using RowNights = std::vector<const NightRow*>;

template <class Value>
Json column(const RowNights& nights, Value value) {
  Json json = Json::array();
  for (const NightRow* night : nights) json.push_back(night ? value(*night) : Json());
  return json;
}

template <class Has>
bool any(const RowNights& nights, Has has) {
  return std::ranges::any_of(nights, [&](const NightRow* night) { return night && has(*night); });
}

/// Hashes numbered in order of appearance; null if all nights have the same one.
Json hash_column(const RowNights& nights) {
  std::vector<std::uint64_t> seen;
  Json json = Json::array();
  for (const NightRow* night : nights) {
    if (!night || night->hash == 0) {
      json.push_back(nullptr);
      continue;
    }
    const auto at = std::ranges::find(seen, night->hash);
    json.push_back(at - seen.begin());
    if (at == seen.end()) seen.push_back(night->hash);
  }
  return seen.size() > 1 ? json : Json();
}

/// A number with 3 digits, for values that are only drawn.
Json small_number(float value) {
  return json_number(static_cast<double>(value), 3);
}

Json columns_of(const RowNights& nights) {
  Json json = Json::object();
  json["s"] = Json::array();
  for (const NightRow* night : nights) json["s"].push_back(night ? static_cast<int>(night->status) : -1);
  if (any(nights, [](const NightRow& night) { return night.time_us > 0; })) {
    json["t"] = column(nights, [](const NightRow& night) {
      return night.time_us > 0 ? json_number(static_cast<double>(night.time_us)) : Json();
    });
    json["c"] = column(nights, [](const NightRow& night) { return small_number(night.ci_pct); });
  }
  if (any(nights, [](const NightRow& night) { return night.err_over_bound > 0; }))
    json["e"] = column(nights, [](const NightRow& night) { return small_number(night.err_over_bound); });
  Json hashes = hash_column(nights);
  if (!hashes.is_null()) json["h"] = std::move(hashes);
  return json;
}

}  // namespace

void RowHistory::add(const NightSummaries& nights, const Track& track, std::span<const RowKey> rows) {
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (const auto number = nights.numbers.find(rows[row])) places.emplace(*number, row);
  }
  std::vector<RowNights> table(rows.size(), RowNights(track.nights.size()));
  for (std::size_t night = 0; night < track.nights.size(); ++night) {
    for (const NightRow& row : nights.all[track.nights[night]].rows) {
      const auto place = places.find(row.row);
      if (place != places.end()) table[place->second][night] = &row;
    }
  }
  for (const RowNights& row : table) rows_.push_back(columns_of(row));
}

Json RowHistory::take() {
  Json words = Json::array();
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i)
    words.push_back(name_of(static_cast<Status>(i)));
  return {{"words", std::move(words)}, {"rows", std::exchange(rows_, Json::array())}};
}

}  // namespace assay
