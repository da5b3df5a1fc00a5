#include "harness/report/console/headings.h"

#include "harness/base/text.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

namespace assay {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string shape_word(const RowInfo& info) {
  return "shape=" + info.shape;
}

std::set<std::string> common_to(const std::set<std::string>& some, const std::vector<std::string>& words) {
  std::set<std::string> common;
  for (const std::string& word : words) {
    if (some.contains(word)) common.insert(word);
  }
  return common;
}

void append(std::string& text, const std::string& word, const char* separator) {
  if (!text.empty()) text += separator;
  text += word;
}

}  // namespace

Headings::Headings(std::span<const Record* const> shown) {
  std::map<std::string, std::set<std::string>> full;
  for (const Record* record : shown) {
    const RowInfo& info = record->info;
    const std::vector<std::string> words = words_of(info.params);
    const bool repeats_shape = std::ranges::find(words, shape_word(info)) != words.end();
    const auto [at, is_first] =
        ops_.try_emplace(info.op, OpWords{{words.begin(), words.end()}, repeats_shape});
    if (!is_first) {
      at->second.common = common_to(at->second.common, words);
      at->second.repeats_shape = at->second.repeats_shape && repeats_shape;
    }
    full[info.op].insert(info.shape + '\n' + info.params);
  }
  // Words are separated by blanks, which a value may contain as well: if that makes two cases look alike,
  // their op keeps all of its words.
  std::map<std::string, std::set<std::string>> shortened;
  for (const Record* record : shown) shortened[record->info.op].insert(of(record->info));
  for (auto& [op, words] : ops_) {
    if (shortened[op].size() < full[op].size()) words = {};
  }
}

std::string Headings::of(const RowInfo& info) const {
  std::string heading = info.op + "  " + info.shape;
  const auto at = ops_.find(info.op);
  if (at == ops_.end() || (at->second.common.empty() && !at->second.repeats_shape)) {
    return printable(info.params.empty() ? heading : heading + "  " + info.params);
  }
  std::string rest;
  for (const std::string& word : words_of(info.params)) {
    if (at->second.common.contains(word)) continue;
    if (at->second.repeats_shape && word == shape_word(info)) continue;
    append(rest, word, " ");
  }
  return printable(rest.empty() ? heading : heading + "  " + rest);
}

std::string Headings::common(const std::string& op) const {
  const auto at = ops_.find(op);
  if (at == ops_.end()) return "";
  std::string text;
  for (const std::string& word : at->second.common) {
    if (!(at->second.repeats_shape && word.starts_with("shape="))) append(text, word, " ");
  }
  return printable(text);
}

}  // namespace assay
