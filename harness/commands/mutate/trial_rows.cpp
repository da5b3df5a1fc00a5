#include "harness/commands/mutate/trial_rows.h"

#include "harness/base/hash.h"
#include "harness/engine/run/row_plan.h"
#include "harness/gpu/gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <optional>

namespace assay::app {
namespace {

/// Beyond these, a row takes seconds on a CPU.
constexpr std::int64_t most_operations = std::int64_t{1} << 27;
constexpr std::int64_t most_bytes = std::int64_t{32} << 20;
/// What a row costs in addition to its work, in operations: pipelines, buffers, two submissions.
constexpr double fixed_cost = 1e6;

std::string constants_of(const Dispatch& dispatch) {
  std::string text = fmt::format("[{}]", fmt::join(dispatch.local_size, " "));
  for (const SpecConstant& constant : dispatch.constants)
    text += fmt::format(" {}={}", constant.name, constant.value);
  return text;
}

/// Special values are in the rows of few fills.
std::string fills_of(const Case& test_case) {
  std::string text;
  for (const auto& [input, fill] : *test_case.fills) text.append(" ").append(name_of(fill.kind));
  return text;
}

std::optional<TrialRow> trial_row(const Case& test_case, const DeviceInfo& device) try {
  if (test_case.invalid || test_case.op->chain || test_case.mode == Mode::Perf) return std::nullopt;
  const Work work = test_case.op->work(test_case.params, test_case.tensors);
  const std::int64_t bytes = work.bytes_read + work.bytes_written;
  if (work.operations > most_operations || bytes > most_bytes) return std::nullopt;
  const RowProgram made = row_program(test_case, device);
  if (!made.program || made.unsupported) return std::nullopt;
  TrialRow row{.test_case = &test_case,
               .variants = {},
               .traits = {},
               .cost = fixed_cost + static_cast<double>(work.operations) + 10.0 * static_cast<double>(bytes)};
  for (const Dispatch& dispatch : made.program->dispatches) {
    auto [shader, folders] = gpu::kernel_of(dispatch);
    row.variants.push_back({std::move(shader), dispatch.defines, std::move(folders)});
    row.traits += constants_of(dispatch);
  }
  row.traits += fills_of(test_case);
  return row;
} catch (const std::exception&) {
  return std::nullopt;  // `assay run` says why it cannot run
}

}  // namespace

TrialRows::TrialRows(std::span<const Case* const> cases, const DeviceInfo& device) : here_(cases, device) {
  for (const Case* test_case : here_.all()) {
    if (auto row = trial_row(*test_case, device)) rows_.push_back(*std::move(row));
  }
}

std::string TrialRows::fingerprint() const {
  Hasher hasher;
  for (const TrialRow& row : rows_) hasher.feed(row.test_case->id + "\n");
  return hasher.result();
}

}  // namespace assay::app
