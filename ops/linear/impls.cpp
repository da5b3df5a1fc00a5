#include "ops/linear/impls.h"

#include "ops/linear/coopmat.h"
#include "ops/linear/gemv.h"
#include "ops/linear/tiled.h"

#include <functional>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

// Weights may be read again for each of so many rows before tiles, which read them once, are faster.
constexpr std::int64_t few_rows = 16, few_rows_of_reals = 32;

bool has_few_rows(const BuildContext& context, std::int64_t few) {
  return references::checked_linear(context.params).rows() <= few;
}

Impl choosing(std::function<std::vector<std::string>(const BuildContext&)> choose) {
  Impl impl{.name = "auto"};
  impl.summary = "by the number of rows and what the device is fast at";
  impl.tunables = {weights_tunable()};
  impl.choose = std::move(choose);
  return impl;
}

}  // namespace

std::vector<Impl> linear_impls(const LinearKind& kind) {
  if (kind.is_real()) {
    const auto choose = [](const BuildContext& context) {
      return has_few_rows(context, few_rows_of_reals) ? std::vector<std::string>{"gemv", "tiled"}
                                                      : std::vector<std::string>{"tiled", "gemv"};
    };
    return {tiled_linear("tiled", kind, false), gemv_linear(kind), coopmat_linear(kind), choosing(choose)};
  }
  const auto choose = [](const BuildContext& context) {
    if (has_few_rows(context, few_rows)) return std::vector<std::string>{"gemv", "dot4x8", "tiled"};
    if (context.device.dot_product_accelerated) return std::vector<std::string>{"dot4x8", "tiled", "gemv"};
    return std::vector<std::string>{"tiled", "gemv"};
  };
  return {tiled_linear("tiled", kind, false), tiled_linear("dot4x8", kind, true), gemv_linear(kind),
          coopmat_linear(kind), choosing(choose)};
}

std::vector<Impl> coop_impls(const LinearKind& kind) {
  const auto choose = [](const BuildContext& context) {
    const std::string suffix = context.device.dot_product_accelerated ? "_dot4x8" : "";
    const std::string first = has_few_rows(context, few_rows) ? "coop" : "tiled";
    const std::string second = has_few_rows(context, few_rows) ? "tiled" : "coop";
    return std::vector<std::string>{first + suffix, second + suffix};
  };
  return {tiled_linear("tiled", kind, false),
          tiled_linear("tiled_dot4x8", kind, true),
          coop_linear("coop", kind, false),
          coop_linear("coop_dot4x8", kind, true),
          coopmat_linear(kind),
          choosing(choose)};
}

}  // namespace assay::ops
