#include "harness/cases/tuning/tensor_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Kind = ParamSpec::Kind;

/// What whole numbers are tried, also as dims: many ops want them to be equal, or multiples of a few.
constexpr std::array<std::int64_t, 5> sizes{1, 4, 32, 64, 128};
constexpr std::size_t most_combinations = 512;

/// Values of the choices and booleans, by parameter.
using Words = std::map<std::string, Value>;

std::vector<Value> words_of(const ParamSpec& param) {
  if (param.kind == Kind::Boolean) return {false, true};
  std::vector<Value> words;
  if (param.kind == Kind::Choice) words.assign(param.choices.begin(), param.choices.end());
  return words;
}

/// Every combination; nothing if there are too many.
std::vector<Words> combinations(const Op& op) {
  std::vector<Words> all{{}};
  for (const ParamSpec& param : op.params) {
    const std::vector<Value> words = words_of(param);
    if (words.empty()) continue;
    if (all.size() * words.size() > most_combinations) return {};
    std::vector<Words> longer;
    for (const Words& one : all) {
      for (const Value& word : words) {
        longer.push_back(one);
        longer.back()[param.name] = word;
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// A value without a default: of this size, in lists of this many. The least size stands in lists that are
/// no shapes for 0, 1, 2, ...: some must be the numbers of dims.
Value value_of(const ParamSpec& param, std::int64_t size, int rank) {
  const std::int64_t integer = std::clamp(size, param.min_integer, param.max_integer);
  const auto count = static_cast<std::size_t>(std::clamp(rank, param.min_rank, param.max_rank));
  std::vector<std::int64_t> list(count, integer);
  switch (param.kind) {
    case Kind::Integer:
      return integer;
    case Kind::Number:
      return std::clamp(1.0, param.min_number, param.max_number);
    case Kind::QParams:
      return QParams{};
    case Kind::Ints:
      if (size == sizes.front()) std::iota(list.begin(), list.end(), 0);
      return list;
    default:
      return list;
  }
}

/// Throws ParameterError if that is no value of some parameter.
Params params_of(const Op& op, const Words& words, std::int64_t size, int rank) {
  Params params;
  for (const ParamSpec& param : op.params) {
    const auto word = words.find(param.name);
    std::optional<Value> value;
    if (word != words.end()) value = word->second;
    if (!value) value = param.default_for(params);
    if (!value) value = value_of(param, size, rank);
    param.check(*value);  // ops take checked parameters
    params.set(param.name, *std::move(value));
  }
  return params;
}

constexpr std::array ranks{4, 3, 2, 1};

/// The names with the first of the sizes that is possible; nothing if none is.
std::set<std::string> names_with(const Op& op, const Words& words) {
  for (const int rank : ranks) {
    for (const std::int64_t size : sizes) {
      try {
        std::set<std::string> names;
        for (const TensorSpec& tensor : op.tensors(params_of(op, words, size, rank)))
          names.insert(tensor.name);
        return names;
      } catch (const std::exception&) {  // impossible, as ops say in words of their own
        continue;
      }
    }
  }
  return {};
}

std::set<std::string> possible_names(const Op& op) {
  std::set<std::string> names;
  std::set<std::pair<std::string, std::string>> possible, wanted;
  for (const Words& words : combinations(op)) {
    std::set<std::string> some = names_with(op, words);
    for (const auto& [param, word] : words) {
      wanted.emplace(param, to_string(word));
      if (!some.empty()) possible.emplace(param, to_string(word));
    }
    names.merge(some);
  }
  return possible == wanted ? names : std::set<std::string>();
}

/// Calls `use` with the points of one combination. Returns whether it wants further ones.
bool each_point_with(const Op& op, const Words& words, const UsePoint& use) {
  for (const int rank : ranks) {
    for (const std::int64_t size : sizes) {
      Params params;
      std::vector<TensorSpec> tensors;
      try {
        params = params_of(op, words, size, rank);
        tensors = op.tensors(params);
      } catch (const std::exception&) {  // impossible, as ops say in words of their own
        continue;
      }
      if (!use(params, tensors)) return false;
    }
  }
  return true;
}

std::map<std::string, std::set<Form>> forms_at_points(const Op& op) {
  std::map<std::string, std::set<Form>> forms;
  each_possible_point(op, [&](const Params&, const std::vector<TensorSpec>& tensors) {
    for (const TensorSpec& tensor : tensors) {
      std::set<Form>& accepted = forms[tensor.name];
      accepted.insert(tensor.forms.begin(), tensor.forms.end());
      if (tensor.forms.empty()) accepted.insert(Form{});
    }
    return true;
  });
  return forms;
}

}  // namespace

void each_possible_point(const Op& op, const UsePoint& use) {
  for (const Words& words : combinations(op)) {
    if (!each_point_with(op, words, use)) return;
  }
}

const std::set<std::string>& PossibleTensors::of(const Op& op) {
  const auto [at, is_new] = names_.try_emplace(&op);
  if (is_new) at->second = possible_names(op);
  return at->second;
}

const std::set<Form>& PossibleTensors::forms_of(const Op& op, const std::string& tensor) {
  const auto [at, is_new] = forms_.try_emplace(&op);
  if (is_new && !of(op).empty()) at->second = forms_at_points(op);
  return at->second[tensor];
}

}  // namespace assay
