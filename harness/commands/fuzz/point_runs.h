#pragma once

#include "harness/cases/case.h"
#include "harness/commands/context.h"
#include "harness/commands/fuzz/options.h"
#include "harness/op/op.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

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

 private:
  /// The report of a run; without any row if it was stopped before it had a device.
  RunReport report_of(const std::vector<std::string>& words, const std::function<bool()>& must_stop) const;
  std::vector<std::string> words(const std::vector<std::filesystem::path>& files) const;

  const FuzzOptions& options_;
  const Context& context_;
  const Terminal& terminal_;
  std::filesystem::path folder_;
  std::string device_;
};

}  // namespace assay::app
