#pragma once

#include "harness/gpu/spirv/spirv_instructions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace assay::gpu {

/// The values of a module's 32-bit integer and boolean constants after specialization, as needed to compute
/// sizes; floats and wider numbers have no value here.
class SpirvConstants {
 public:
  /// `specialization` maps a SpecId to its value; it must outlive this object.
  explicit SpirvConstants(const std::map<std::uint32_t, std::uint32_t>& specialization)
      : specialization_(specialization) {}

  /// Takes the next instruction; call it with all instructions of a module, in order. Only constants and
  /// SpecIds matter.
  void read(const SpirvInstruction& instruction);

  /// The constant's value; nothing when `id` is no such constant or could not be evaluated.
  std::optional<std::uint32_t> value(std::uint32_t id) const;
  /// The member ids of a composite constant; empty for other ids.
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
