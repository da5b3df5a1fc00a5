#pragma once

#include "harness/chain/op_point.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::chain {

/// "x=buffer/4W4C y=buffer/4C1W": the forms of an op's tensors, as rows of reports have them.
std::string forms_text(std::span<const TensorSpec> specs, std::span<const Form> forms);

/// Measured times of ops in given forms, from the report of a run (assay run --times).
class NodeTimes {
 public:
  /// The parts of a report's row that say what was timed.
  struct Row {
    std::string op;
    std::string impl;    ///< as a case names it: "auto"
    std::string params;  ///< see data_text()
    std::string forms;   ///< see forms_text()
    // NOLINTNEXTLINE(modernize-use-nullptr): the check takes what the compiler generates for a null pointer
    friend auto operator<=>(const Row&, const Row&) = default;
  };

  /// `run_id` and `device` say where the times are from.
  NodeTimes(std::string run_id, const DeviceInfo& device);

  /// Adds a time; of rows that say the same, the shortest counts.
  void add(const Row& row, double us);
  /// The time in us, or nothing if there is none.
  std::optional<double> find(const OpPoint& point, std::span<const Form> forms) const;

  const std::string& run_id() const { return run_id_; }
  /// Returns why these are not the times of a device, as a sentence, or nothing.
  std::optional<std::string> refuse(const DeviceInfo& device) const;

 private:
  std::string run_id_;
  std::string device_;
  std::string driver_;
  std::map<Row, double> times_;
};

/// A node of a chain, or a copy between two of its nodes, in forms that a plan may choose.
struct TimedPoint {
  std::string name;  ///< the node's, or the tensor's that is copied
  OpPoint point;
  std::vector<Form> forms;
};

/// Everything whose time decides the fastest plan: each node in each combination of forms that it declares,
/// and each tensor's copies. Those that no device can run are left out. `outer` has the forms of
/// ResolvedChain::outer.
std::vector<TimedPoint> points_to_time(const Chain& chain, const ResolvedChain& resolved,
                                       std::span<const Form> outer);

}  // namespace assay::chain
