#include "ops/linear/linear_test_support.h"

// Runs every impl of every linear op on random points and compares it with its reference.

namespace assay::ops {
namespace {

using namespace test;

struct OpImpl {
  std::string op, impl;
};

/// The impls that build programs: all but `auto`.
std::vector<OpImpl> op_impls() {
  std::vector<OpImpl> all;
  const Registry ops = registry();
  for (const Op& op : ops.ops()) {
    if (op.name.find("linear") == std::string::npos) continue;
    for (const Impl& impl : op.impls) {
      if (impl.build) all.push_back({op.name, impl.name});
    }
  }
  return all;
}

class LinearProducts : public LinearTest, public testing::WithParamInterface<OpImpl> {};

TEST_P(LinearProducts, AgreeWithTheReferenceOnRandomPoints) {
  const std::string& impl = GetParam().impl;
  const bool tiled = impl.starts_with("tiled") || impl == "dot4x8" || impl == "coopmat";
  try_points(op_of(GetParam().op), impl, tiled ? 3 : 5, tiled ? Sizes{70, 150, 70} : Sizes{5, 700, 40});
}

INSTANTIATE_TEST_SUITE_P(Of, LinearProducts, testing::ValuesIn(op_impls()),
                         [](const auto& of) { return of.param.op + "_by_" + of.param.impl; });

}  // namespace
}  // namespace assay::ops
