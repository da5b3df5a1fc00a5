#include "tests/faults/bench.h"

#include "harness/base/hash.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/report/journal/report_builder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace assay::faults {
namespace {

class Ear final : public RunListener {
 public:
  explicit Ear(Heard& heard) : heard_(heard) {}

  void run(const RunInfo& info) override { builder_.run(info); }
  void plan(std::span<const RowInfo> rows) override { builder_.plan(rows); }
  void begin(RowIndex row) override {
    builder_.begin(row);
    heard_.begun.push_back(builder_.info(row).id);
  }
  void judged(RowIndex row, const AccuracyResult& accuracy) override { builder_.judged(row, accuracy); }
  void block(RowIndex row, const Block& block) override {
    builder_.block(row, block);
    heard_.blocks.push_back(builder_.info(row).id);
    heard_.rounds.push_back(block.round);
    heard_.batches.push_back(block.batch);
    heard_.systems.push_back(block.system);
  }
  void end(RowIndex row, const RowEnd& end) override {
    builder_.end(row, end);
    heard_.ends.push_back(end);
    heard_.records.push_back(builder_.record(row));
  }
  void done() override { builder_.done(); }

 private:
  Heard& heard_;
  ReportBuilder builder_;
};

/// One worker thread: lavapipe keeps a workgroup's shared memory a thread, and the kernel that reads it
/// before writing it shall meet what its last run left there.
gpu::InstanceOptions prepared() {
  ::setenv("LP_NUM_THREADS", "1", 1);
  return {};
}

/// The first form of each tensor that our kernels understand: 4C1W where there is a choice of int8x4.
Form form_of(const TensorSpec& spec) {
  for (const Form form : spec.forms) {
    if (form.layout == Layout::P4C1W) return form;
  }
  return spec.forms.front();
}

}  // namespace

Bench::Bench()
    : instance_(prepared()),
      device_(instance_, gpu::select_devices(instance_.devices(), {}).front()),
      shaders_({.directories = {ASSAY_SOURCE_DIR "/tests/faults", ASSAY_SOURCE_DIR "/tests/example",
                                ASSAY_SOURCE_DIR "/shaders"},
                .cache_directory = gpu::default_cache_directory()}) {}

Bench& Bench::shared() {
  static Bench bench;
  return bench;
}

std::unique_ptr<Bench> Bench::fresh() {
  return std::unique_ptr<Bench>(new Bench);
}

bool Bench::is_lavapipe() const {
  return device_.info().name.find("llvmpipe") != std::string::npos;
}

Heard Bench::run(const std::vector<Case>& cases, const DeviceRunOptions& options,
                 const Expectations& expectations, const RowsLeft& left) {
  std::vector<const Case*> pointers;
  for (const Case& test_case : cases) pointers.push_back(&test_case);
  DeviceRunOptions hurried = options;
  hurried.sampling.budget_s = 0.02;
  Heard heard;
  Ear ear(heard);
  const std::vector<PlannedGroup> groups = plan_rows(pointers, options.mode);
  ear.plan(plan_of(groups, options.names, options.rows.baseline_impl));
  heard.no_dump_because = run_on_device(device_, shaders_, groups, left, expectations, hurried, ear);
  return heard;
}

Record Bench::run(const Case& test_case, Mode mode) {
  DeviceRunOptions options;
  options.mode = mode;
  const Heard heard = run(std::vector<Case>{test_case}, options);
  if (heard.records.size() != 1) throw std::logic_error("one row was planned, another number recorded");
  return heard.records.front();
}

Case fault_case(const Op& op, const std::string& impl, const Params& params, FillKind fill) {
  Case test_case;
  test_case.op = &op;
  test_case.impl = op.find_impl(impl);
  if (test_case.impl == nullptr) throw std::logic_error(op.name + " has no impl " + impl);
  test_case.name = "fault";
  test_case.id = op.name + "/fault/" + impl;
  test_case.params = params;
  test_case.tensors = op.tensors(params);
  for (const TensorSpec& spec : test_case.tensors) {
    test_case.forms.push_back(form_of(spec));
    if (spec.is_input()) test_case.fills.edit()[spec.name] = {.kind = fill};
  }
  test_case.mode = Mode::Both;
  test_case.timeout_s = 20;
  test_case.where = SourceLocation{"faults.yaml", 1, 1};
  test_case.data_key = hash64(op.name + "\n" + params.canonical() + "\n" + std::string(name_of(fill)));
  return test_case;
}

std::uint32_t first_word(const Case& test_case) {
  const DataSet data = make_data_set(test_case);
  std::uint32_t word = 0;
  std::memcpy(&word, data.inputs.front().bytes().data(), sizeof word);
  return word;
}

}  // namespace assay::faults
