#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "harness/tensor/pack.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Something wrong in the memory that a run left behind.
struct Finding {
  std::string metric;      ///< see AccuracyResult::metric: "write_out_of_bounds", "wrong_value", ...
  std::string reason;      ///< a sentence: which tensor, where, how many bytes
  std::string memory{};    ///< names the guard that was written; empty for other findings
  std::int64_t bytes = 0;  ///< how many bytes of it were written
};

/// The guards of one allocation: `before` starts at offset 0, `after` at offset `end`, both in bytes.
struct Guards {
  std::span<const std::byte> before, after;
  std::uint64_t end = 0;
};

/// Adds a finding for each guard that no longer holds `poison`.
void check_guards(const std::string& name, const Guards& guards, Poison poison, std::vector<Finding>& found);

/// Adds the findings of another run of the same program to `found`. A guard that both runs wrote stays one
/// finding, that of the run with more changed bytes: where a written byte equals the poison by chance, one
/// run shows fewer.
void add_findings(std::vector<Finding>& found, const std::vector<Finding>& more);

/// Around which buffers' data a stray write of the program would be seen, as reports say it: "both" sides, or
/// by tensor for kernels that know of no guards, "x=after y=none". Empty: the program binds no buffer.
/// `tensors` and `forms` are those of the case.
std::string guards_seen(const Program& program, std::span<const TensorSpec> tensors,
                        std::span<const Form> forms);

/// The poison of one resource of a program. No two resources have the same poison byte at the same offset, so
/// a kernel that copies one tensor's guard into another's is detected.
constexpr Poison poison_of(Poison poison, Resource resource) {
  constexpr std::uint32_t scratch = 128;  // after the tensors
  return poison.of(1 + resource.index + (resource.kind == Resource::Kind::Scratch ? scratch : 0));
}

}  // namespace assay
