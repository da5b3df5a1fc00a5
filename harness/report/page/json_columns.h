#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay {

using Json = nlohmann::ordered_json;

/// Text as a page may show it: printable(), so that it is UTF-8 and what would change the order of text is
/// visible.
Json json_text(std::string_view text);

/// A figure with `digits` significant digits, as more are noise and cost room. What is not finite is "nan",
/// "inf" or "-inf".
Json json_number(double value, int digits = 5);

/// The dump of a part's JSON: ASCII, whatever the text in it.
std::string json_dump(const Json& json);

/// A column of text in which few words come often: the words, and for each row which of them.
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
