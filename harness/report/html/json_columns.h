#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay {

using Json = nlohmann::ordered_json;

/// Text as a page may show it: printable(), so that it is UTF-8, and characters that change the order of text
/// are visible.
Json json_text(std::string_view text);

/// A number with `digits` significant digits, as more are noise and cost space. Numbers that are not finite
/// become "nan", "inf" or "-inf".
Json json_number(double value, int digits = 5);

/// The JSON of a part as text: always ASCII.
std::string json_dump(const Json& json);

/// A column of text with few different words: the list of words, and for each row the index of its word.
class WordColumn {
 public:
  void add(std::string_view text);
  Json json() const;

 private:
  std::unordered_map<std::string, std::size_t> places_;
  Json words_ = Json::array();
  Json rows_ = Json::array();
};

}  // namespace assay
