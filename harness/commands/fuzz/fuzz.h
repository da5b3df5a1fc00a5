#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/commands/context.h"
#include "harness/device/device_info.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/op/op.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The options of `assay fuzz`.
struct FuzzOptions {
  std::vector<std::string> ops;                   ///< names or globs; empty: see ops_to_fuzz()
  std::vector<std::filesystem::path> op_folders;  ///< --ops: folders of ops that manifests declare
  double seconds = 60;                            ///< for drawing and running points
  std::optional<std::size_t> points;              ///< that are drawn at most; absent: no limit
  double shrink_seconds = 60;                     ///< for making one failure smaller
  std::optional<std::uint64_t> seed;              ///< absent: drawn at random
  bool keep_going = false;                        ///< look for other failures after the first
  std::string device;                             ///< see `assay run --device`
  std::filesystem::path out = "assay-out/fuzz";
  std::filesystem::path shaders;  ///< see `assay run --shaders`
  double hang_limit_s = 60;       ///< silence of a worker that counts as hanging
  double memory_limit_gib = 8;    ///< for each worker; 0: none
  bool verbose = false;
};

/// The ops that the names or globs choose: without any those of --ops, and without that all. Ops whose cases
/// bring their answers are left out: no other point of them can be judged. Throws Error(Usage) for a name
/// that is no op's, and if no op is left.
std::vector<const Op*> ops_to_fuzz(const FuzzOptions& options, const Registry& registry);

/// How a point ended.
struct PointEnd {
  Status status = Status::Missing;
  std::string metric;  ///< of a wrong answer: "wrong_value"
  std::string what;    ///< a sentence with numbers

  bool is_failure() const;
  /// Whether two failures may have one cause.
  bool is_like(const PointEnd& other) const { return status == other.status && metric == other.metric; }
};

/// How the row of that point ended. Where no answer could be checked because the op's reference refuses the
/// point's data, as it may where no declaration can (an exact sum may leave its range), the end is Invalid.
/// A reference that fails is a failure of the point.
PointEnd end_of(const Record& record, const Case& point);

/// Runs points as accuracy rows, each batch as an `assay run` with workers of its own.
class PointRuns {
 public:
  /// All must outlive this. `folder` is for files of its own, which are removed with it.
  PointRuns(const FuzzOptions& options, const Context& context, const Terminal& terminal,
            std::filesystem::path folder);
  ~PointRuns();
  PointRuns(const PointRuns&) = delete;
  PointRuns& operator=(const PointRuns&) = delete;

  /// Runs the points, each as the case file that is written of it, and returns an end for each: none for a
  /// point that is no valid case. Throws Error.
  std::vector<std::optional<PointEnd>> run(std::span<const Case> points,
                                           const std::function<bool()>& must_stop);

  /// Name of the device that ran the last points; empty before.
  const std::string& device() const { return device_; }
  /// Whether a point so far ran a file of --shaders.
  bool used_shaders() const { return used_shaders_; }

 private:
  /// The report of a run; without any row if it was stopped before it had a device.
  RunReport report_of(const std::vector<std::string>& words, const std::function<bool()>& must_stop) const;
  std::vector<std::string> words(const std::vector<std::filesystem::path>& files) const;
  void note_used_shaders(const PlannedGroup& points, const DeviceInfo& device);

  const FuzzOptions& options_;
  const Context& context_;
  const Terminal& terminal_;
  std::filesystem::path folder_;
  std::string device_;
  bool used_shaders_ = false;
};

/// `assay fuzz`: draws points of the ops' own spaces, runs them, and makes each failure that it finds a small
/// case file (docs/fuzz.md). Returns Failures if it found one, and Usage if nothing is known: no point passed
/// or failed, or none ran a file of --shaders. Throws Error.
ExitCode fuzz(const FuzzOptions& options, const Context& context, const Terminal& terminal,
              const std::function<bool()>& stop_requested);

}  // namespace assay::app
