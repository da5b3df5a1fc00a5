#include "harness/mutation/edits.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace assay::mutation {
namespace {

/// A word in a name, and the fault of ignoring what it names.
struct Meaning {
  std::string_view word;
  std::string_view kind;
  bool is_factor = false;  ///< 1 changes nothing, for the others 0
};

constexpr std::array<Meaning, 12> meanings{{
    {"zero_point", "zero_point_ignored"},
    {"scale", "scale_ignored", true},
    {"factor", "scale_ignored", true},
    {"multiplier", "scale_ignored", true},
    {"lane", "lane_ignored"},
    {"channel", "channel_ignored"},
    {"batch", "batch_ignored"},
    {"image", "batch_ignored"},
    {"group", "group_ignored"},
    {"bias", "bias_ignored"},
    {"stride", "stride_ignored", true},
    {"offset", "offset_ignored"},
}};

const Meaning* meaning_of(std::string_view name) {
  for (const Meaning& meaning : meanings) {
    if (name.find(meaning.word) != std::string_view::npos) return &meaning;
  }
  return nullptr;
}

/// Whether the word's value is used: it is no declaration, function, type, macro or target of a store.
bool is_use(const GlslCode& code, std::size_t word) {
  const std::string_view name = code.text(word);
  if (std::isupper(static_cast<unsigned char>(name.front())) != 0 || name.starts_with("gl_")) return false;
  const std::string_view after = code.text(word + 1);
  const bool continues = after == "(" || after == "." || after == "[" || after == "++" || after == "--";
  return !continues && !is_assignment(after) && !code.is_declared_here(word) && !code.is_word(word + 1);
}

void ignore(std::size_t word, Edits& edits) {
  const GlslCode& code = edits.code();
  const Meaning* const meaning = meaning_of(code.text(word));
  if (meaning == nullptr || !is_use(code, word) || code.at(word).depth == 0) return;
  const std::size_t first = code.start_of_chain(word);
  if (first == no_token || (first > 0 && is_type(code.text(first - 1)))) return;
  const std::string_view before = code.text(first - 1);
  if (before == "++" || before == "--") return;
  const std::string value(code.between(first, word + 1));
  edits.replace(meaning->kind, first, word + 1,
                meaning->is_factor ? fmt::format("({} * 0 + 1)", value) : fmt::format("({} * 0)", value));
}

/// ".x" and ".y", ".z" and ".w" are exchanged; the third coordinate of an invocation is replaced by the
/// second.
void change_lane(std::size_t word, Edits& edits) {
  const GlslCode& code = edits.code();
  if (word == 0 || code.text(word - 1) != ".") return;
  const std::string_view lane = code.text(word);
  const bool is_three = word >= 2 && code.text(word - 2).starts_with("gl_");
  if (lane == "x") edits.replace("lane_swapped", word, "y");
  if (lane == "y") edits.replace("lane_swapped", word, "x");
  if (lane == "z") edits.replace("lane_swapped", word, is_three ? "y" : "w");
  if (lane == "w") edits.replace("lane_swapped", word, "z");
}

}  // namespace

void change_names(std::size_t token, Edits& edits) {
  if (!edits.code().is_word(token)) return;
  ignore(token, edits);
  change_lane(token, edits);
}

}  // namespace assay::mutation
