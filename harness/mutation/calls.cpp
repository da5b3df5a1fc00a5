#include "harness/mutation/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace assay::mutation {
namespace {

/// The arguments of a call, each from its first token to the one after its last.
struct Call {
  struct Argument {
    std::size_t first = 0;
    std::size_t end = 0;
  };
  std::vector<Argument> arguments;
  std::size_t end = 0;  ///< the token after the closing bracket
};

/// Empty if the word is not the name of a function that is called with arguments.
Call call_at(const GlslCode& code, std::size_t word) {
  const std::size_t open = word + 1;
  if (!code.is_word(word) || code.text(open) != "(" || code.at(open).partner == no_token) return {};
  if (code.is_declared_here(word)) return {};  // a function's definition
  const std::size_t close = code.at(open).partner;
  Call call{.arguments = {}, .end = close + 1};
  for (std::size_t first = open + 1; first < close;) {
    const std::size_t comma = code.find(",", first, close);
    const std::size_t end = comma == no_token ? close : comma;
    call.arguments.push_back({first, end});
    first = end + 1;
  }
  return call;
}

class CallEdits {
 public:
  CallEdits(std::size_t word, const Call& call, Edits& edits)
      : word_(word), call_(call), edits_(edits), name_(edits.code().text(word)) {}

  void add() {
    change_rounding();
    change_limits();
    drop_special_values();
    swap_arguments();
  }

 private:
  std::string argument(std::size_t index) const {
    const Call::Argument& one = call_.arguments[index];
    return std::string(edits_.code().between(one.first, one.end));
  }
  void call_replaced(std::string_view kind, std::string after) {
    edits_.replace(kind, word_, call_.end, std::move(after));
  }
  void argument_replaced(std::string_view kind, std::size_t index, std::string after) {
    edits_.replace(kind, call_.arguments[index].first, call_.arguments[index].end, std::move(after));
  }

  void change_rounding() {
    if (call_.arguments.size() != 1) return;
    if (name_ == "roundEven" || name_ == "round") {
      edits_.replace("rounding_truncated", word_, "trunc");
      call_replaced("rounding_half_up", fmt::format("floor(({}) + 0.5)", argument(0)));
    } else if (name_ == "floor") {
      edits_.replace("rounding_up", word_, "ceil");
    } else if (name_ == "ceil" || name_ == "trunc") {
      edits_.replace("rounding_down", word_, "floor");
    }
  }

  void change_limits() {
    const std::size_t count = call_.arguments.size();
    if (count == 2 && (name_ == "min" || name_ == "max")) {
      edits_.replace("min_max_swapped", word_, name_ == "min" ? "max" : "min");
      call_replaced("limit_dropped", fmt::format("({})", argument(0)));
    }
    if (count != 3 || name_ != "clamp") return;
    call_replaced("limit_dropped", fmt::format("({})", argument(0)));
    argument_replaced("clamp_low_moved", 1, fmt::format("({}) + 1", argument(1)));
    argument_replaced("clamp_high_moved", 2, fmt::format("({}) - 1", argument(2)));
  }

  void drop_special_values() {
    if (name_ == "isnan") call_replaced("nan_dropped", fmt::format("(isnan({}) && false)", argument(0)));
    if (name_ == "isinf") call_replaced("inf_dropped", fmt::format("(isinf({}) && false)", argument(0)));
  }

  /// Dims, coordinates and operands that are given in the wrong order. (The functions for which it is no
  /// fault have the names that they have in GLSL, and in common/rounding.glslh.)
  void swap_arguments() {
    constexpr std::array<std::string_view, 6> symmetric{"min", "max", "dot", "distance", "product", "sum"};
    if (std::ranges::find(symmetric, name_) != symmetric.end()) return;
    for (std::size_t i = 0; i + 1 < call_.arguments.size(); ++i) {
      if (argument(i) == argument(i + 1)) continue;
      edits_.replace("arguments_swapped", call_.arguments[i].first, call_.arguments[i + 1].end,
                     fmt::format("{}, {}", argument(i + 1), argument(i)));
    }
  }

  std::size_t word_;
  const Call& call_;
  Edits& edits_;
  std::string_view name_;
};

bool starts_statement(const GlslCode& code, std::size_t token) {
  const std::string_view before = code.text(token - 1);
  return token > 0 && code.at(token).depth > 0 && (before == ";" || before == "{" || before == "}");
}

/// Removes a barrier, a call whose result nobody uses, and an assignment.
void drop_statement(std::size_t token, Edits& edits) {
  const GlslCode& code = edits.code();
  if (!code.is_word(token) || !starts_statement(code, token) || code.is_word(token + 1)) return;
  const std::size_t end = code.find(";", token, code.size());
  if (end == no_token) return;
  const std::string_view name = code.text(token);
  if (name.find("arrier") != std::string_view::npos) return edits.replace("barrier_removed", token, end, "");
  const bool is_call = code.text(token + 1) == "(" && code.at(token + 1).partner == end - 1;
  bool is_stored = false;
  for (std::size_t i = token; i < end; ++i) {
    if (is_assignment(code.text(i))) is_stored = true;
    if (code.text(i) == "{") return;
  }
  constexpr std::array<std::string_view, 6> keywords{"if", "for", "while", "return", "do", "switch"};
  if (std::ranges::find(keywords, name) != keywords.end()) return;
  if (is_call || is_stored) edits.replace("statement_dropped", token, end, "");
}

}  // namespace

void change_calls(std::size_t token, Edits& edits) {
  drop_statement(token, edits);
  const Call call = call_at(edits.code(), token);
  constexpr std::array<std::string_view, 5> no_functions{"if", "for", "while", "switch", "return"};
  if (std::ranges::find(no_functions, edits.code().text(token)) != no_functions.end()) return;
  if (!call.arguments.empty()) CallEdits(token, call, edits).add();
}

}  // namespace assay::mutation
