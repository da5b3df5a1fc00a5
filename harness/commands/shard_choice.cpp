#include "harness/commands/shard_choice.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/record/shard.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

namespace assay::app {
namespace {

/// Two variables that together name a shard.
struct ShardVariables {
  const char* index;
  const char* total;
  int first;             ///< index of the first shard
  bool total_may_stand;  ///< a total of 1 may be set if there are no shards
};
constexpr std::array variables{ShardVariables{"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", 0, false},
                               ShardVariables{"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", 0, false},
                               ShardVariables{"CI_NODE_INDEX", "CI_NODE_TOTAL", 1, true}};

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

std::optional<AskedShard> shard_in(const ShardVariables& family, const Environment& environment) {
  const std::string index_text = value_of(environment, family.index);
  const std::string total_text = value_of(environment, family.total);
  if (index_text.empty() && (total_text.empty() || (family.total_may_stand && total_text == "1")))
    return std::nullopt;
  const std::optional<int> index = number_in(index_text);
  const std::optional<int> total = number_in(total_text);
  if (!index || !total || *total < 1 || *total > most_shards || *index < family.first ||
      *index - family.first >= *total) {
    throw Error(
        fmt::format("choosing a shard: {}='{}' and {}='{}' do not name one; the index counts from {} to {}",
                    family.index, shortened(index_text, 20), family.total, shortened(total_text, 20),
                    family.first, family.first == 0 ? "the total minus one" : "the total"));
  }
  return AskedShard{{*index - family.first + 1, *total}, fmt::format("{} of {}", family.index, family.total)};
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::optional<int> index = number_in(std::string_view(text).substr(0, slash));
  const std::optional<int> count =
      slash == text.npos ? std::nullopt : number_in(std::string_view(text).substr(slash + 1));
  if (!index || !count || *count < 1 || *count > most_shards || *index < 1 || *index > *count) {
    throw Error(
        fmt::format("choosing a shard: --shard '{}' is not a shard; write 2/8 for the second of eight",
                    shortened(text, 40)));
  }
  return {*index, *count};
}

std::optional<AskedShard> asked_shard(const std::string& option, const Environment& environment) {
  std::optional<AskedShard> asked;
  if (!option.empty()) asked = AskedShard{parse_shard(option), "--shard"};
  for (const ShardVariables& family : variables) {
    if (!asked) asked = shard_in(family, environment);
  }
  return asked && asked->shard.count > 1 ? asked : std::nullopt;
}

void touch_shard_status_files(const Environment& environment) {
  for (const char* name : {"GTEST_SHARD_STATUS_FILE", "TEST_SHARD_STATUS_FILE"}) {
    const std::string path = value_of(environment, name);
    if (!path.empty()) write_named_file(path, "");
  }
}

}  // namespace assay::app
