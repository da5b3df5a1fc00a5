#include "harness/engine/accuracy/experiment.h"

#include "harness/engine/accuracy/data_set.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gtest/gtest.h>

// Whether tensors go through the host or stay on the device, the same is seen.

namespace assay::faults {
namespace {

struct Setting {
  explicit Setting(Case chosen)
      : test_case(std::move(chosen)),
        data(make_data_set(test_case)),
        packed(data.inputs),
        memory(Bench::shared().device(), Bench::shared().shaders()),
        program(test_case.impl->build({test_case.params, test_case.tensors, test_case.forms,
                                       Bench::shared().device().info(), test_case.tune})) {}

  Experiment experiment(std::unique_ptr<Originals> kept) {
    Bench& bench = Bench::shared();
    return {bench.device(), bench.shaders(), test_case, program, packed, std::move(kept)};
  }
  std::unique_ptr<Originals> originals() {
    return std::make_unique<Originals>(Bench::shared().device(), memory, test_case, packed);
  }

  Case test_case;
  DataSet data;
  PackedInputs packed;
  gpu::DeviceMemory memory;
  Program program;
};

const Shape image = {2, 5, 3, 7};

Case quantize_case(const std::string& impl) {
  static const Op op = quantize();
  return fault_case(op, impl, quantize_params(image));
}

/// Padding in both tensors, in every third word.
Case padded_case(const std::string& impl) {
  static const Op op = pixel_shuffle();
  return fault_case(op, impl, pixel_shuffle_params({2, 9, 2, 5}, 3, false));
}

Case texture_case(const std::string& impl) {
  static const Op op = flip(Storage::Texture3D);
  return fault_case(op, impl, flip_params(image));
}

void expect_same(const RunResult& by_host, const RunResult& on_device, const std::string& what) {
  EXPECT_TRUE(same_answer(by_host.outputs, on_device.outputs)) << what;
  ASSERT_EQ(by_host.findings.size(), on_device.findings.size()) << what;
  for (std::size_t i = 0; i < by_host.findings.size(); ++i) {
    EXPECT_EQ(by_host.findings[i].metric, on_device.findings[i].metric) << what;
    EXPECT_EQ(by_host.findings[i].reason, on_device.findings[i].reason) << what;
  }
}

TEST(Experiment, SeesTheSameByTheHostAndOnTheDevice) {
  const std::vector<Case> cases = {quantize_case("correct"),
                                   quantize_case("null_kernel"),
                                   quantize_case("write_past_end"),
                                   quantize_case("write_before_start"),
                                   quantize_case("input_overwritten"),
                                   quantize_case("one_element_not_written"),
                                   padded_case("correct"),
                                   padded_case("depends_on_padding"),
                                   texture_case("correct"),
                                   texture_case("one_texel_not_written"),
                                   texture_case("depends_on_padding")};
  for (const Case& test_case : cases) {
    Setting setting(test_case);
    Experiment by_host = setting.experiment(nullptr);
    Experiment on_device = setting.experiment(setting.originals());
    for (const Poisons& poisons :
         {Poisons::all(Poison::A), Poisons::all(Poison::B), Poisons{.outputs = Poison::B},
          Poisons{.padding = Poison::B}, Poisons{.guards = Poison::B}}) {
      expect_same(by_host.run(poisons), on_device.run(poisons), test_case.id);
    }
  }
}

TEST(Experiment, OutputsThatAreEqualAreReadOnce) {
  Setting setting(quantize_case("correct"));
  Experiment experiment = setting.experiment(setting.originals());
  const RunResult first = experiment.run(Poisons::all(Poison::A));
  EXPECT_EQ(experiment.run(Poisons::all(Poison::B)).outputs, first.outputs);
  Experiment another = setting.experiment(experiment.take_originals());
  EXPECT_EQ(another.run({.padding = Poison::B, .guards = Poison::B}).outputs, first.outputs);
  const gpu::Workspace fresh = another.fresh_workspace(Poison::B);
  EXPECT_NE(another.outputs_of(fresh), first.outputs) << "nothing has run there";
}

TEST(Experiment, PoisonsPartsAgainWhereAProgramMayJoinThem) {
  const auto parts = Resource::scratch(0), counters = Resource::scratch(1);
  for (const bool with_originals : {false, true}) {
    for (const bool joins : {false, true}) {
      Setting setting(quantize_case("correct"));
      setting.program.scratch = {
          {.name = "parts", .dtype = DType::I32, .shape = {9}, .form = {}},
          {.name = "counters", .dtype = DType::I32, .shape = {3}, .form = {}, .is_zero_between_runs = joins}};
      Experiment experiment = setting.experiment(with_originals ? setting.originals() : nullptr);
      gpu::Workspace set = experiment.fresh_workspace(Poison::B);
      const std::vector<std::byte> poison = set.read(parts), zeros(poison.size()), count = set.read(counters);
      EXPECT_EQ(count[gpu::guard_bytes] == std::byte{0}, joins);
      set.write(parts, zeros);
      experiment.poison_joined(set, Poison::B);
      EXPECT_EQ(set.read(parts), joins ? poison : zeros);
      EXPECT_EQ(set.read(counters), count);
    }
  }
}

TEST(Experiment, CountsTheSetsThatHoldAnAnswer) {
  Setting setting(quantize_case("correct"));
  for (const bool with_originals : {false, true}) {
    Experiment experiment = setting.experiment(with_originals ? setting.originals() : nullptr);
    const Answer answer = experiment.run(Poisons::all(Poison::A)).outputs;
    std::vector<gpu::Workspace> sets;
    std::vector<const gpu::Workspace*> pointers;
    for (int i = 0; i < 4; ++i) sets.push_back(experiment.fresh_workspace(Poison::B));
    for (gpu::Workspace& set : sets) {
      experiment.executable().run(set, "a set", 10);
      pointers.push_back(&set);
    }
    EXPECT_EQ(experiment.count_holding({}, answer), 0U);
    EXPECT_EQ(experiment.count_holding(pointers, answer), 4U);
    for (const std::size_t wrong : {3U, 1U, 0U}) {
      sets[wrong] = experiment.fresh_workspace(Poison::B);
      EXPECT_EQ(experiment.count_holding(pointers, answer), wrong) << with_originals;
    }
  }
}

TEST(Experiment, FreshMemoryHoldsPoisonAndTheInputs) {
  Setting setting(padded_case("correct"));
  Experiment by_host = setting.experiment(nullptr);
  Experiment on_device = setting.experiment(setting.originals());
  const gpu::Workspace a = by_host.fresh_workspace(Poison::B);
  const gpu::Workspace b = on_device.fresh_workspace(Poison::B);
  for (std::uint32_t i = 0; i < setting.test_case.tensors->size(); ++i) {
    EXPECT_EQ(a.read(Resource::tensor(i)), b.read(Resource::tensor(i))) << i;
  }
}

TEST(Experiment, GivesOriginalsUpWhereAnInputWasOverwritten) {
  Setting setting(quantize_case("input_overwritten"));
  Experiment experiment = setting.experiment(setting.originals());
  const RunResult seen = experiment.run(Poisons::all(Poison::A));
  ASSERT_EQ(seen.findings.size(), 1U);
  EXPECT_EQ(seen.findings[0].metric, "input_modified");
  EXPECT_EQ(experiment.originals(), nullptr);
}

}  // namespace
}  // namespace assay::faults
