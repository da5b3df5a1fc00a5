#pragma once

#include "harness/chain/chain.h"
#include "harness/chain/layout_plan.h"

#include <map>
#include <string>
#include <vector>

namespace assay::test {

inline constexpr Form wp{Storage::Buffer, Layout::WP};
inline constexpr Form hp{Storage::Buffer, Layout::HP};
inline constexpr Form cp{Storage::Buffer, Layout::CP};

/// Ops without programs that do something, for tests of chains.
///   clone        f32 tensors, buffer/WP, HP and CP
///   q8ta_clone   i8 tensors, buffer/4W4C, 4C1W and 4C
///   square       f32 [..], x and y in one form: WP or CP; work: one operation per value
///   scale        i8, x and y in 4W4C or 4C1W, in one form; qparams x (required) and y (required)
///   dense        f32, x [M, K] times the constant w [K, N]; parameters M, K and N; WP alone
///   add          f32, a and b of one shape, all in one form: WP or HP
///   update       f32, writes x [M, K] into a part of `cache` [M + 1, K]; WP alone; work: that of x
///   peek         f32, x and y [M, K], reads all rows of x but the last, which do not exist; WP alone
const Registry& chain_ops();

/// A node of that op; `op` names one of chain_ops().
chain::NodeDecl node(const std::string& name, const std::string& op,
                     std::map<std::string, std::string> inputs, std::map<std::string, std::string> outputs,
                     std::map<std::string, chain::ValueOrName> params = {});

/// A chain of these nodes over the f32 tensor x [2, 3].
chain::Chain chain_of(std::vector<chain::NodeDecl> nodes);

/// x -> square -> clone -> square: the nodes one, keep and two, the tensors x, a, b and c.
chain::Chain squares();

std::vector<std::string> names_of_steps(const chain::LayoutPlan& plan);

}  // namespace assay::test
