#pragma once

#include "harness/op/program.h"
#include "harness/tensor/pack.h"

namespace assay {

/// The poison of one resource of a program. No two resources have the same poison byte at the same offset, so
/// a kernel that copies one tensor's guard into another's is detected.
constexpr Poison poison_of(Poison poison, Resource resource) {
  constexpr std::uint32_t scratch = 128;  // after the tensors
  return poison.of(1 + resource.index + (resource.kind == Resource::Kind::Scratch ? scratch : 0));
}

}  // namespace assay
