#include "harness/mutation/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

namespace assay::mutation {
namespace {

struct Swap {
  std::string_view from;
  std::string_view to;
  std::string_view kind;
};

constexpr std::array<Swap, 24> swaps{{
    {"<", "<=", "bound_off_by_one"}, {"<=", "<", "bound_off_by_one"},   {">", ">=", "bound_off_by_one"},
    {">=", ">", "bound_off_by_one"}, {"==", "!=", "equality_inverted"}, {"!=", "==", "equality_inverted"},
    {"+", "-", "minus_for_plus"},    {"-", "+", "plus_for_minus"},      {"+=", "-=", "minus_for_plus"},
    {"-=", "+=", "plus_for_minus"},  {"*", "/", "divided_for_times"},   {"/", "*", "times_for_divided"},
    {"%", "/", "quotient_for_rest"}, {"*=", "/=", "divided_for_times"}, {"/=", "*=", "times_for_divided"},
    {"<<", ">>", "shift_reversed"},  {">>", "<<", "shift_reversed"},    {"&", "|", "bits_swapped"},
    {"|", "&", "bits_swapped"},      {"^", "|", "bits_swapped"},        {"&&", "||", "and_or_swapped"},
    {"||", "&&", "and_or_swapped"},  {"<<=", ">>=", "shift_reversed"},  {">>=", "<<=", "shift_reversed"},
}};

void drop_operand(std::size_t token, Edits& edits) {
  const std::string_view symbol = edits.code().text(token);
  const int precedence = precedence_of(symbol);
  const bool is_sum = precedence == precedence_of("+");
  if (!is_sum && precedence != precedence_of("*")) return;
  const std::size_t end = edits.code().end_of_operand(token + 1, precedence);
  if (end != no_token) edits.replace(is_sum ? "term_dropped" : "factor_dropped", token, end, "");
}

/// A sum binds more tightly than a shift, so that the operand need not be found.
void move_shift(std::size_t token, Edits& edits) {
  const std::string_view symbol = edits.code().text(token);
  if (symbol != "<<" && symbol != ">>") return;
  edits.replace("shift_one_more", token, fmt::format("{} 1 +", symbol));
  edits.replace("shift_one_less", token, fmt::format("{} -1 +", symbol));
}

void drop_sign(std::size_t token, Edits& edits) {
  const std::string_view symbol = edits.code().text(token);
  if (edits.code().is_binary(token)) return;
  if (symbol == "-") edits.replace("sign_dropped", token, "");
  if (symbol == "!") edits.replace("negation_dropped", token, "");
}

/// Whether the token is the bound of a loop over the four lanes of a vector. What a fifth lane is, is
/// undefined, and a store to it changes nothing.
bool bounds_lanes(const GlslCode& code, std::size_t number) {
  const bool is_four = code.text(number) == "4u" || code.text(number) == "4";
  return is_four && number > 0 && code.text(number - 1) == "<" && code.text(number + 1) == ";";
}

/// An integer literal and its suffix; nothing for other numbers.
struct Integer {
  std::uint64_t value = 0;
  bool is_hex = false;
  std::string_view suffix;
};

bool parse_integer(std::string_view text, Integer& found) {
  found.is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (found.is_hex) text.remove_prefix(2);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, found.value, found.is_hex ? 16 : 10);
  if (error != std::errc{}) return false;
  found.suffix = std::string_view(rest, static_cast<std::size_t>(end - rest));
  return found.suffix.empty() || found.suffix == "u" || found.suffix == "U";
}

std::string text_of(const Integer& integer, std::uint64_t value) {
  return integer.is_hex ? fmt::format("0x{:x}{}", value, integer.suffix)
                        : fmt::format("{}{}", value, integer.suffix);
}

/// Whether the number is all of the initial value in a declaration.
bool is_initial_value(const GlslCode& code, std::size_t token) {
  return token >= 2 && code.text(token - 1) == "=" && code.text(token + 1) == ";" &&
         code.is_declared_here(token - 2);
}

void change_integer(std::size_t token, const Integer& integer, Edits& edits) {
  const bool is_first = is_initial_value(edits.code(), token);
  if (!bounds_lanes(edits.code(), token)) {
    edits.replace(is_first ? "initial_value_changed" : "constant_plus_one", token,
                  text_of(integer, integer.value + 1));
  }
  if (integer.value > 0 && !is_first)
    edits.replace("constant_minus_one", token, text_of(integer, integer.value - 1));
}

/// "1.5" becomes "(1.5 + 1.0)"; exponents are doubled.
void change_real(std::size_t token, Edits& edits) {
  const std::string_view text = edits.code().text(token);
  if (is_initial_value(edits.code(), token)) {
    edits.replace("initial_value_changed", token, fmt::format("({} + 1.0)", text));
  } else if (text.find_first_of("eE") != std::string_view::npos) {
    edits.replace("constant_doubled", token, fmt::format("({} * 2.0)", text));
  } else {
    edits.replace("constant_plus_one", token, fmt::format("({} + 1.0)", text));
    edits.replace("constant_minus_one", token, fmt::format("({} - 1.0)", text));
  }
}

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

/// The condition is still evaluated: it may store what follows needs.
void force_branch(std::size_t token, Edits& edits) {
  const GlslCode& code = edits.code();
  const std::size_t open = token + 1;
  if (code.text(token) != "if" || code.text(open) != "(" || code.at(open).partner == no_token) return;
  const std::size_t close = code.at(open).partner;
  const std::string_view condition = code.between(open + 1, close);
  edits.replace("branch_always", open + 1, close, fmt::format("({}) || true", condition));
  edits.replace("branch_never", open + 1, close, fmt::format("({}) && false", condition));
}

/// The end of what follows the colon of "a ? b : c".
std::size_t end_of_choice(const GlslCode& code, std::size_t first) {
  for (std::size_t i = first; i < code.size(); ++i) {
    const std::string_view text = code.text(i);
    if (text == ";" || text == "," || text == ")" || text == "]" || text == "}") return i;
    const std::size_t partner = code.at(i).partner;
    if (partner != no_token && partner > i) i = partner;
  }
  return no_token;
}

void force_choice(std::size_t token, Edits& edits) {
  const GlslCode& code = edits.code();
  if (code.text(token) != "?") return;
  const std::size_t colon = code.find(":", token + 1, code.size());
  if (colon == no_token || code.find("?", token + 1, colon) != no_token) return;
  const std::size_t end = end_of_choice(code, colon + 1);
  if (end == no_token) return;
  edits.replace("choice_always_first", colon + 1, end, fmt::format("({})", code.between(token + 1, colon)));
  edits.replace("choice_always_second", token + 1, colon, fmt::format("({})", code.between(colon + 1, end)));
}

/// The condition of a loop is between the two semicolons of its head.
void shorten_loop(std::size_t token, Edits& edits) {
  const GlslCode& code = edits.code();
  const std::size_t open = token + 1;
  if (code.text(token) != "for" || code.text(open) != "(" || code.at(open).partner == no_token) return;
  const std::size_t first = code.find(";", open + 1, code.at(open).partner);
  if (first == no_token) return;
  const std::size_t second = code.find(";", first + 1, code.at(open).partner);
  if (second == no_token) return;
  for (std::size_t i = first + 1; i < second; ++i) {
    const std::string_view symbol = code.text(i);
    if (symbol == "<" || symbol == "<=" || symbol == "!=")
      edits.replace("loop_once_less", i, fmt::format("+ 1 {}", symbol));
    if (symbol == ">" || symbol == ">=") edits.replace("loop_once_less", i, fmt::format("- 1 {}", symbol));
  }
}

void swap_exit(std::size_t token, Edits& edits) {
  const GlslCode& code = edits.code();
  if (code.text(token) == "break") edits.replace("exit_swapped", token, "continue");
  if (code.text(token) == "continue") edits.replace("exit_swapped", token, "break");
}

}  // namespace

void change_arithmetic(std::size_t token, Edits& edits) {
  const GlslCode& code = edits.code();
  if (code.at(token).kind != Token::Kind::Symbol) return;
  const std::string_view symbol = code.text(token);
  if (!code.is_binary(token) && !is_assignment(symbol)) return drop_sign(token, edits);
  if (bounds_lanes(code, token + 1)) return;
  for (const Swap& swap : swaps) {
    if (swap.from == symbol) edits.replace(swap.kind, token, std::string(swap.to));
  }
  if (is_assignment(symbol) && symbol != "=") edits.replace("accumulation_lost", token, "=");
  if (!code.is_binary(token)) return;
  drop_operand(token, edits);
  move_shift(token, edits);
}

void change_constants(std::size_t token, Edits& edits) {
  const GlslCode& code = edits.code();
  if (!code.is_number(token)) return;
  Integer integer;
  if (parse_integer(code.text(token), integer)) {
    change_integer(token, integer, edits);
  } else if (code.text(token).find('.') != std::string_view::npos) {
    change_real(token, edits);
  }
}

void change_calls(std::size_t token, Edits& edits) {
  drop_statement(token, edits);
  const Call call = call_at(edits.code(), token);
  constexpr std::array<std::string_view, 5> no_functions{"if", "for", "while", "switch", "return"};
  if (std::ranges::find(no_functions, edits.code().text(token)) != no_functions.end()) return;
  if (!call.arguments.empty()) CallEdits(token, call, edits).add();
}

void change_flow(std::size_t token, Edits& edits) {
  force_branch(token, edits);
  force_choice(token, edits);
  shorten_loop(token, edits);
  swap_exit(token, edits);
}

}  // namespace assay::mutation
