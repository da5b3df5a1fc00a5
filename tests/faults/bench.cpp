#include "tests/faults/bench.h"

#include "harness/core/hash.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace assay::faults {
namespace {

class Ear final : public RunListener {
 public:
  explicit Ear(Heard& heard) : heard_(heard) {}

  void run(const RunInfo&) override {}
  void plan(std::span<const CaseInfo>) override {}
  void begin(const CaseInfo& info) override { heard_.begun.push_back(info.id); }
  void record(const Record& record) override { heard_.records.push_back(record); }
  void end() override {}

 private:
  Heard& heard_;
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
      shaders_({.directories = {ASSAY_SOURCE_DIR "/tests/faults"}, .cache_directory = {}}) {}

Bench& Bench::shared() {
  static Bench bench;
  return bench;
}

bool Bench::is_lavapipe() const {
  return device_.info().name.find("llvmpipe") != std::string::npos;
}

Heard Bench::run(const std::vector<Case>& cases, const DeviceRunOptions& options,
                 const Expectations& expectations) {
  std::vector<const Case*> pointers;
  for (const Case& one : cases) pointers.push_back(&one);
  DeviceRunOptions hurried = options;
  hurried.sampling.budget_s = 0.02;
  Heard heard;
  Ear ear(heard);
  run_on_device(device_, shaders_, plan_rows(pointers, options.mode), expectations, hurried, ear);
  return heard;
}

Record Bench::run(const Case& one, Mode mode) {
  DeviceRunOptions options;
  options.mode = mode;
  const Heard heard = run(std::vector<Case>{one}, options);
  if (heard.records.size() != 1) throw std::logic_error("one row was planned, another number recorded");
  return heard.records.front();
}

Case fault_case(const Op& op, const std::string& impl, const Params& params, FillKind fill) {
  Case one;
  one.op = &op;
  one.impl = op.find_impl(impl);
  if (one.impl == nullptr) throw std::logic_error(op.name + " has no impl " + impl);
  one.name = "fault";
  one.id = op.name + "/fault/" + impl;
  one.params = params;
  one.tensors = op.tensors(params);
  for (const TensorSpec& spec : one.tensors) {
    one.forms.push_back(form_of(spec));
    if (spec.is_input()) one.fills[spec.name] = {.kind = fill};
  }
  one.mode = Mode::Both;
  one.timeout_s = 20;
  one.where = {"faults.yaml", 1, 1};
  one.data_key = hash64(op.name + "\n" + params.canonical() + "\n" + std::string(name_of(fill)));
  return one;
}

}  // namespace assay::faults
