#include "harness/mutation/edits.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

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

}  // namespace assay::mutation
