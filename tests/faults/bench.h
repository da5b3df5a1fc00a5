#pragma once

#include "harness/cases/case.h"
#include "harness/engine/run/device_run.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::faults {

/// The events that a run sent to its listener.
struct Heard {
  std::vector<std::string> begun;    ///< ids
  std::vector<std::string> blocks;   ///< ids of the rows whose blocks ended
  std::vector<int> rounds;           ///< of each of those blocks
  std::vector<int> batches;          ///< the same
  std::vector<SystemState> systems;  ///< the same
  std::vector<RowEnd> ends;
  std::vector<Record> records;  ///< of each end
  std::string no_dump_because;  ///< why a dump could not be written; empty: none failed
};

/// The default device and the shaders of this folder, of tests/example and of the tree.
class Bench {
 public:
  /// Opened once a process, before any test needs it.
  static Bench& shared();
  /// One of its own, for a test that changes its device.
  static std::unique_ptr<Bench> fresh();

  Heard run(const std::vector<Case>& cases, const DeviceRunOptions& options = {},
            const Expectations& expectations = {}, const RowsLeft& left = {});
  /// The one row that `test_case` has in `mode`.
  Record run(const Case& test_case, Mode mode = Mode::Accu);

  gpu::Device& device() { return device_; }
  gpu::ShaderLibrary& shaders() { return shaders_; }
  /// Mesa's CPU driver: what a test may rely on where Vulkan leaves it open.
  bool is_lavapipe() const;

 private:
  Bench();

  gpu::Instance instance_;
  gpu::Device device_;
  gpu::ShaderLibrary shaders_;
};

/// A case of `op` with its impl `impl`, all inputs filled with `fill`, in forms that our kernels take.
Case fault_case(const Op& op, const std::string& impl, const Params& params,
                FillKind fill = FillKind::Normal);

/// The first word of the first input of the data that the case's own seed gives: shaders may know it.
std::uint32_t first_word(const Case& test_case);

}  // namespace assay::faults
