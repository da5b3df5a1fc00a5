#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace assay::test {

/// Limits of random_net().
struct NetLimits {
  std::size_t fewest_nodes = 3;
  std::size_t most_nodes = 10;
};

/// Returns a case file with one chain of random shape, in the three ways to plan it. Its nodes are exact ops:
/// convolutions, additions, clamps, clones, pixel shuffles, and ops on floats between a dequantization and a
/// quantization. Tensors have a few hundred values, and may be read by several nodes or by none, or leave the
/// chain and be read too; tensors that enter or leave have random forms. Nodes are declared in random order.
/// The same seed always gives the same text.
std::string random_net(std::uint64_t seed, const NetLimits& limits);

}  // namespace assay::test
