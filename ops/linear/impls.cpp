#include "ops/linear/impls.h"

#include "ops/linear/coopmat.h"
#include "ops/linear/gemv.h"
#include "ops/linear/tiled.h"

#include <functional>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

// Up to this many rows, weights may be read again for each row before tiles, which read them once, are
// faster.
constexpr std::int64_t few_rows = 16, few_rows_of_reals = 32;

bool has_few_rows(const BuildContext& context, std::int64_t few) {
  return references::checked_linear(context.params).rows() <= few;
}

Impl choosing(std::function<std::vector<std::string>(const BuildContext&)> choose) {
  Impl impl{.name = "auto"};
  impl.summary = "chosen by the number of rows and what the device is fast at";
  impl.tunables = {weights_tunable()};
  impl.choose = std::move(choose);
  return impl;
}

// Cooperative matrices come first, where the device has them and there are enough rows.
std::vector<std::string> ranked(const BuildContext& context, const LinearKind& kind, std::int64_t few,
                                const std::vector<std::string>& for_few,
                                const std::vector<std::string>& for_many) {
  if (has_few_rows(context, few)) return for_few;
  std::vector<std::string> ranking;
  if (has_matrices(context.device, kind)) ranking.emplace_back("coopmat");
  ranking.insert(ranking.end(), for_many.begin(), for_many.end());
  return ranking;
}

}  // namespace

std::vector<Impl> linear_impls(const LinearKind& kind) {
  if (kind.is_real()) {
    const auto choose = [kind](const BuildContext& context) {
      return ranked(context, kind, few_rows_of_reals, {"gemv", "tiled"}, {"tiled", "gemv"});
    };
    return {tiled_linear("tiled", kind, false), gemv_linear(kind), coopmat_linear(kind), choosing(choose)};
  }
  const auto choose = [kind](const BuildContext& context) {
    const bool dot = context.device.dot_product_accelerated;
    return ranked(context, kind, few_rows, {"gemv", "dot4x8", "tiled"},
                  dot ? std::vector<std::string>{"dot4x8", "tiled", "gemv"}
                      : std::vector<std::string>{"tiled", "gemv"});
  };
  return {tiled_linear("tiled", kind, false), tiled_linear("dot4x8", kind, true), gemv_linear(kind),
          coopmat_linear(kind), choosing(choose)};
}

std::vector<Impl> coop_impls(const LinearKind& kind) {
  const auto choose = [kind](const BuildContext& context) {
    const std::string suffix = context.device.dot_product_accelerated ? "_dot4x8" : "";
    return ranked(context, kind, few_rows, {"coop" + suffix, "tiled" + suffix},
                  {"tiled" + suffix, "coop" + suffix});
  };
  return {tiled_linear("tiled", kind, false),
          tiled_linear("tiled_dot4x8", kind, true),
          coop_linear("coop", kind, false),
          coop_linear("coop_dot4x8", kind, true),
          coopmat_linear(kind),
          choosing(choose)};
}

}  // namespace assay::ops
