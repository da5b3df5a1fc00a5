#include "harness/tensor/fill/fill_spec.h"

#include "harness/base/names.h"

namespace assay {
namespace {

constexpr Names<13> fill_names{"normal",  "uniform", "ties",  "saturate", "wide", "constant", "zero",
                               "outlier", "special", "mixed", "nan",      "ends", "npy"};

}  // namespace

std::string_view name_of(FillKind kind) {
  return name_in(fill_names, kind);
}

std::optional<FillKind> parse_fill(std::string_view name) {
  return value_in<FillKind>(fill_names, name);
}

}  // namespace assay
