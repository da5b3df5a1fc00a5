#pragma once

#include "harness/gpu/shaders/spirv_instructions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace assay::gpu {

/// The 32-bit integers and booleans that a module's constants have once it is specialized, as far as sizes
/// are made of them: floats and wider numbers have none.
class SpirvConstants {
 public:
  /// `specialization`: value by SpecId.
  explicit SpirvConstants(const std::map<std::uint32_t, std::uint32_t>& specialization)
      : specialization_(specialization) {}

  /// All instructions of a module in order; others than constants and SpecIds change nothing.
  void read(const SpirvInstruction& instruction);

  /// Nothing where it is no such constant, or could not be evaluated.
  std::optional<std::uint32_t> value(std::uint32_t id) const;
  /// The members of a composite; empty for what is none.
  std::vector<std::uint32_t> members(std::uint32_t id) const;

 private:
  std::optional<std::uint32_t> specialized(std::uint32_t id, std::uint32_t fallback) const;
  std::optional<std::uint32_t> evaluated(std::span<const std::uint32_t> operation) const;

  const std::map<std::uint32_t, std::uint32_t>& specialization_;
  std::map<std::uint32_t, std::uint32_t> spec_ids_;
  std::map<std::uint32_t, std::uint32_t> values_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> members_;
};

}  // namespace assay::gpu
