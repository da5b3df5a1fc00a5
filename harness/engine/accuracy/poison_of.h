#pragma once

#include "harness/op/program.h"
#include "harness/tensor/pack.h"

namespace assay {

/// The poison of one resource of a program: no byte of it stands at the same place of another's memory, so
/// that what a kernel copies from the guard of one tensor into that of another is seen.
constexpr Poison poison_of(Poison poison, Resource resource) {
  constexpr std::uint32_t scratch = 128;  // after the tensors
  return poison.of(1 + resource.index + (resource.kind == Resource::Kind::Scratch ? scratch : 0));
}

}  // namespace assay
