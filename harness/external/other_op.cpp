#include "harness/external/other_op.h"

#include "harness/base/error.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/external/manifest_at_point.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace assay::external {
namespace {

[[noreturn]] void fail(const SourceLocation& where, const std::string& message) {
  throw PlacedError(where, message);
}

[[noreturn]] void fail_unknown(const SourceLocation& where, const std::string& what, const std::string& name,
                               const std::vector<std::string>& known) {
  const std::string meant = cases::nearest(name, known);
  fail(where, fmt::format("unknown {} '{}'{}", what, name,
                          meant.empty() ? fmt::format("; there are: {}", fmt::join(known, ", "))
                                        : fmt::format("; did you mean '{}'?", meant)));
}

std::shared_ptr<const Op> found_op(const DeclaredOtherOp& declared, const Registry& registry) {
  if (const Op* op = registry.find(declared.op)) return std::make_shared<const Op>(*op);
  std::vector<std::string> known;
  for (const Op& op : registry.ops()) known.push_back(op.name);
  fail_unknown(declared.where, "op of assay", declared.op, known);
}

std::string text_of(DType dtype, const Shape& shape) {
  return fmt::format("{} {}", name_of(dtype), to_string(shape));
}

double number_of(const PlacedExpression& expression, const Lookup& lookup) {
  return std::visit([](auto one) { return static_cast<double>(one); }, expression.evaluate_number(lookup));
}

/// Any other word is a mistake, which must not pass for false.
bool boolean_of_word(const DeclaredArgument& argument, const std::string& word) {
  if (word == "true" || word == "false") return word == "true";
  fail(argument.where,
       fmt::format("'{}' must be true, false or a parameter, got '{}'", argument.param, word));
}

bool boolean_of_number(const DeclaredArgument& argument, std::int64_t value) {
  if (value == 0 || value == 1) return value == 1;
  fail(argument.where, fmt::format("'{}' must be true, false, 0 or 1, got {}", argument.param, value));
}

QParams qparams_of(const DeclaredArgument& argument, const Lookup& lookup) {
  const auto& affine = std::get<DeclaredArgument::Quantization>(argument.value);
  const std::int64_t zero_point = affine.zero_point.evaluate(lookup);
  if (!std::in_range<std::int32_t>(zero_point)) {
    fail(argument.where, fmt::format("the zero point of '{}' must be an integer of 32 bits, got {}",
                                     argument.param, zero_point));
  }
  return {static_cast<float>(number_of(affine.scale, lookup)), static_cast<std::int32_t>(zero_point)};
}

}  // namespace

OtherOp::OtherOp(const Manifest& manifest, const Registry& registry)
    : declared_(std::get<DeclaredOtherOp>(manifest.reference)), op_(found_op(declared_, registry)) {
  std::vector<std::string> params;
  for (const ParamSpec& param : op_->params) params.push_back(param.name);
  for (const DeclaredArgument& argument : declared_.with) {
    if (op_->find_param(argument.param) == nullptr)
      fail_unknown(argument.where, fmt::format("parameter of {}", op_->name), argument.param, params);
  }
}

const std::string& OtherOp::own_name(const std::string& tensor) const {
  const auto renamed = declared_.tensors.find(tensor);
  return renamed == declared_.tensors.end() ? tensor : renamed->second;
}

Value OtherOp::value_of(const DeclaredArgument& argument, const ParamSpec& spec, const Params& own) const {
  const Variables variables{own};
  const Lookup lookup = variables.lookup();
  if (const auto* word = std::get_if<std::string>(&argument.value)) {
    if (own.has(*word)) {
      const auto* whole = std::get_if<std::int64_t>(&own.at(*word));
      const bool is_widened = whole != nullptr && spec.kind == ParamSpec::Kind::Number;
      return is_widened ? Value(static_cast<double>(*whole)) : own.at(*word);
    }
    return spec.kind == ParamSpec::Kind::Boolean ? Value(boolean_of_word(argument, *word)) : Value(*word);
  }
  if (const auto* one = std::get_if<PlacedExpression>(&argument.value)) {
    if (spec.kind == ParamSpec::Kind::Number) return number_of(*one, lookup);
    const std::int64_t value = one->evaluate(lookup);
    return spec.kind == ParamSpec::Kind::Boolean ? Value(boolean_of_number(argument, value)) : Value(value);
  }
  if (const auto* list = std::get_if<std::vector<PlacedExpression>>(&argument.value)) {
    std::vector<std::int64_t> values;
    for (const PlacedExpression& one : *list) values.push_back(one.evaluate(lookup));
    return values;
  }
  return qparams_of(argument, lookup);
}

/// A parameter that `with` leaves out is the own one of that name, or has its default.
Params OtherOp::params_of(const Params& own) const {
  Params made;
  for (const ParamSpec& spec : op_->params) {
    const auto given = std::ranges::find(declared_.with, spec.name, &DeclaredArgument::param);
    const SourceLocation& where = given == declared_.with.end() ? declared_.where : given->where;
    try {
      std::optional<Value> value;
      if (given != declared_.with.end()) {
        value = value_of(*given, spec, own);
      } else if (own.has(spec.name)) {
        value = own.at(spec.name);
      } else {
        value = spec.default_for(made);
      }
      if (!value) fail(where, fmt::format("'with' gives no value for the parameter '{}'", spec.name));
      spec.check(*value);
      made.set(spec.name, *std::move(value));
    } catch (const ParameterError& error) {
      fail(where, fmt::format("as a parameter of {}: {}", op_->name, error.what()));
    }
  }
  return made;
}

/// The other op's reference may rely on its inputs' domains.
void OtherOp::take_domain(const TensorSpec& there, TensorSpec& here) const {
  const FillDomain& theirs = there.domain;
  if (here.domain == FillDomain{}) here.domain = theirs;
  if (here.domain.most == 0 || (theirs.most != 0 && theirs.most < here.domain.most))
    here.domain.most = theirs.most;
  // Indices are data with a range, also if that is 0 alone.
  const bool has_role =
      here.domain.role == theirs.role ||
      (here.domain.role == FillRole::Index && theirs.role == FillRole::Data && !is_float(here.dtype));
  const bool is_inside = has_role && here.domain.lo >= theirs.lo && here.domain.hi <= theirs.hi;
  if (is_inside || !(theirs.lo < theirs.hi)) return;
  fail(declared_.where,
       fmt::format("'{}' may have values from {} to {}, and '{}' of {} from {} to {}: narrow its domain, or "
                   "leave it out",
                   here.name, here.domain.lo, here.domain.hi, there.name, op_->name, theirs.lo, theirs.hi));
}

/// Refuses names under 'tensors' that the other op does not have, and two of its outputs for one.
void OtherOp::check_names(std::span<const TensorSpec> theirs) const {
  std::vector<std::string> known;
  std::map<std::string, std::string> outputs;
  for (const TensorSpec& there : theirs) {
    known.push_back(there.name);
    if (there.is_input()) continue;
    const auto [first, is_new] = outputs.emplace(own_name(there.name), there.name);
    if (!is_new) {
      fail(declared_.where, fmt::format("'{}' and '{}' of {} would both be '{}'", first->second, there.name,
                                        op_->name, first->first));
    }
  }
  for (const auto& [name, own] : declared_.tensors) {
    if (std::ranges::find(known, name) == known.end())
      fail_unknown(declared_.where, fmt::format("tensor of {}", op_->name), name, known);
  }
}

std::vector<TensorSpec> OtherOp::tensors_of(const Params& params) const try {
  return op_->tensors(params);
} catch (const ParameterError& error) {
  fail(declared_.where, fmt::format("as a parameter of {}: {}", op_->name, error.what()));
}

void OtherOp::complete(const Params& params, std::vector<TensorSpec>& own) const {
  const std::vector<TensorSpec> theirs = tensors_of(params_of(params));
  check_names(theirs);
  for (const TensorSpec& there : theirs) {
    const auto here = std::ranges::find_if(own, [&](const TensorSpec& spec) {
      return spec.name == own_name(there.name) && spec.is_input() == there.is_input();
    });
    if (here == own.end()) {
      if (!there.is_input()) continue;
      fail(declared_.where, fmt::format("{} needs its input '{}' ({}): say under 'tensors' which one it is",
                                        op_->name, there.name, text_of(there.dtype, there.shape)));
    }
    if (here->dtype != there.dtype || here->shape != there.shape) {
      fail(declared_.where,
           fmt::format("'{}' is {}, and '{}' of {} is {}", here->name, text_of(here->dtype, here->shape),
                       there.name, op_->name, text_of(there.dtype, there.shape)));
    }
    here->output_class = there.output_class;
    here->written_in_part = there.written_in_part && here->starts_as;
    take_domain(there, *here);
    here->constant_because = there.constant_because;
    here->copy_because = there.copy_because;
    here->ends_because = there.ends_because;
  }
  for (const TensorSpec& here : own) {
    const auto is_it = [&](const TensorSpec& there) {
      return !there.is_input() && own_name(there.name) == here.name;
    };
    if (!here.is_input() && std::ranges::none_of(theirs, is_it)) {
      fail(declared_.where, fmt::format("{} has no output that is '{}': say under 'tensors' which one it is",
                                        op_->name, here.name));
    }
  }
}

std::vector<Expected> OtherOp::answers(const Params& params, std::span<const TensorSpec> own,
                                       std::span<const HostTensor> inputs) const {
  const Params there = params_of(params);
  std::map<std::string, const HostTensor*> given;
  for (const TensorSpec& spec : own) {
    if (spec.is_input()) given.emplace(spec.name, &inputs[given.size()]);
  }
  const std::vector<TensorSpec> theirs = tensors_of(there);
  std::vector<HostTensor> arguments;
  std::map<std::string, std::size_t> outputs;
  for (const TensorSpec& spec : theirs) {
    if (spec.is_input()) {
      arguments.push_back(*given.at(own_name(spec.name)));
    } else {
      outputs.emplace(own_name(spec.name), outputs.size());
    }
  }
  std::vector<Expected> all = op_->reference(there, arguments);
  std::vector<Expected> answers;
  for (const TensorSpec& spec : own) {
    if (spec.is_input()) continue;
    answers.push_back(std::move(all[outputs.at(spec.name)]));
    if (!spec.written_in_part) answers.back().kept.clear();
  }
  return answers;
}

}  // namespace assay::external
