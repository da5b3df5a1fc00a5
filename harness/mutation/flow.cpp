#include "harness/mutation/edits.h"

#include <fmt/format.h>

namespace assay::mutation {
namespace {

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

void change_flow(std::size_t token, Edits& edits) {
  force_branch(token, edits);
  force_choice(token, edits);
  shorten_loop(token, edits);
  swap_exit(token, edits);
}

}  // namespace assay::mutation
