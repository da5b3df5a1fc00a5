#include "harness/mutation/edits.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

/// What may be mistaken for a name: the name that is declared before it with the same type, else after it.
using Neighbours = std::map<std::string, std::string, std::less<>>;

struct Declared {
  std::string_view type;
  std::string_view name;
  std::size_t token = 0;
};

void add_neighbours(const std::vector<Declared>& declared, Neighbours& found) {
  std::map<std::string_view, std::vector<std::string_view>> by_type;
  for (const Declared& one : declared) by_type[one.type].push_back(one.name);
  for (const auto& [type, names] : by_type) {
    for (std::size_t i = 0; i < names.size() && names.size() > 1; ++i)
      found.emplace(names[i], names[i == 0 ? 1 : i - 1]);
  }
}

/// The members of a struct or block, whose braces begin at `open`.
std::vector<Declared> members_in(const GlslCode& code, std::size_t open) {
  std::vector<Declared> members;
  for (std::size_t i = open + 1; i < code.at(open).partner; ++i) {
    const bool ends = code.text(i + 1) == ";" || code.text(i + 1) == "[";
    if (code.is_declared_here(i) && ends) members.push_back({code.text(i - 1), code.text(i), i});
  }
  return members;
}

void add_members(std::string_view source, Neighbours& found) {
  const GlslCode code(source);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool is_block = code.at(i).is_layout && code.text(i) == "{" && code.at(i).partner != no_token;
    if (is_block) add_neighbours(members_in(code, i), found);
  }
}

bool is_index_type(std::string_view type) {
  return type == "uint" || type == "int" || type == "float";
}

bool is_stored_to(const GlslCode& code, std::size_t word) {
  const std::string_view after = code.text(word + 1);
  const std::string_view before = word == 0 ? std::string_view() : code.text(word - 1);
  return is_assignment(after) || after == "++" || after == "--" || before == "++" || before == "--";
}

/// The variables of one function after another, as far as they are declared.
class Variables {
 public:
  explicit Variables(const GlslCode& code) : code_(code) {}

  /// Must be called for every token in turn. The variable that a use may be mistaken for; nothing: there is
  /// none, or the token is no use.
  std::optional<std::string_view> neighbour_of(std::size_t token) {
    if (code_.at(token).region != region_) {
      declared_.clear();
      region_ = code_.at(token).region;
    }
    if (!code_.is_word(token)) return std::nullopt;
    if (code_.is_declared_here(token)) {
      if (is_index_type(code_.text(token - 1)) && code_.text(token + 1) != "(")
        declared_.push_back({code_.text(token - 1), code_.text(token), token});
      return std::nullopt;
    }
    const bool is_member = token > 0 && code_.text(token - 1) == ".";
    if (is_member || is_stored_to(code_, token)) return std::nullopt;
    return nearest(code_.text(token));
  }

 private:
  std::optional<std::string_view> nearest(std::string_view name) const {
    for (std::size_t i = declared_.size(); i-- > 0;) {
      if (declared_[i].name != name) continue;
      for (std::size_t k = i; k-- > 0;) {
        if (declared_[k].type == declared_[i].type && declared_[k].name != name) return declared_[k].name;
      }
      for (std::size_t k = i + 1; k < declared_.size(); ++k) {
        if (declared_[k].type == declared_[i].type) return declared_[k].name;
      }
      return std::nullopt;
    }
    return std::nullopt;
  }

  const GlslCode& code_;
  std::vector<Declared> declared_;
  int region_ = -1;
};

}  // namespace

void change_names(std::size_t token, Edits& edits) {
  if (!edits.code().is_word(token)) return;
  ignore(token, edits);
  change_lane(token, edits);
}

void change_neighbours(Edits& edits, const std::vector<std::string_view>& included) {
  const GlslCode& code = edits.code();
  Neighbours members;
  add_members(code.source(), members);
  for (const std::string_view source : included) add_members(source, members);
  Variables variables(code);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto variable = variables.neighbour_of(i);
    if (variable) edits.replace("variable_swapped", i, std::string(*variable));
    const bool is_member = i > 0 && code.text(i - 1) == "." && code.is_word(i) && !is_stored_to(code, i);
    const auto member = members.find(code.text(i));
    if (is_member && member != members.end()) edits.replace("member_swapped", i, member->second);
  }
}

}  // namespace assay::mutation
