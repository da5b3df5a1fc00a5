#include "harness/op/data_text.h"

namespace assay {
namespace {

bool is_derived(const Op& op, const std::string& name, const Params& params) {
  const ParamSpec* spec = op.find_param(name);
  return spec != nullptr && spec->kind == ParamSpec::Kind::Choice && spec->derive &&
         spec->derive(params) == params.at(name);
}

}  // namespace

std::string data_text(const Op& op, const Params& params) {
  Params kept;
  for (const auto& [name, value] : params.all()) {
    if (!is_derived(op, name, params)) kept.set(name, value);
  }
  return kept.canonical();
}

}  // namespace assay
