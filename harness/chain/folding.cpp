#include "harness/chain/folding.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace assay::chain {
namespace {

/// Tensors that nodes which only copy make of others: each in the group of the tensor that it is a copy of.
std::vector<std::size_t> groups_of_copies(const ResolvedChain& chain) {
  std::vector<std::size_t> group(chain.tensors.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (const ResolvedNode& node : chain.nodes) {
    if (only_copies(node)) group[node.tensors[1]] = group[node.tensors[0]];
  }
  return group;
}

}  // namespace

bool only_copies(const ResolvedNode& node) {
  return node.op->name == "clone" || node.op->name == "q8ta_clone" || node.op->name == "view";
}

bool is_identity(const ResolvedNode& node, std::span<const Form> forms) {
  if (!only_copies(node) || forms.size() != 2 || forms[0] != forms[1]) return false;
  if (node.specs[0].shape == node.specs[1].shape) return true;
  return std::ranges::all_of(std::array{0, 1}, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    return !is_texture(forms[at]) &&
           Physical(forms[at], node.specs[at].dtype, node.specs[at].shape).is_contiguous();
  });
}

std::vector<bool> read_beside_their_copies(const ResolvedChain& chain) {
  const std::vector<std::size_t> group = groups_of_copies(chain);
  std::vector<std::size_t> place(chain.tensors.size(), 0);  // of the node that makes it, from 1
  for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
    for (std::size_t slot = 0; slot < chain.nodes[i].specs.size(); ++slot) {
      if (!chain.nodes[i].specs[slot].is_input()) place[chain.nodes[i].tensors[slot]] = i + 1;
    }
  }
  std::vector<bool> is_own(chain.tensors.size(), false);
  for (const ResolvedNode& node : chain.nodes) {
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const std::size_t one = node.tensors[i], other = node.tensors[k];
        const bool are_inputs = node.specs[i].is_input() && node.specs[k].is_input();
        if (are_inputs && one != other && group[one] == group[other])
          is_own[place[one] > place[other] ? one : other] = true;
      }
    }
  }
  return is_own;
}

}  // namespace assay::chain
