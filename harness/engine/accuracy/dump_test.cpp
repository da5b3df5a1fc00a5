#include "harness/engine/accuracy/dump.h"

#include "harness/base/error.h"
#include "harness/tensor/npy/npy.h"
#include "harness/tensor/tensor.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

using test::flip_op;
using test::make_case;
using test::shape_params;

struct Answered {
  Op op = flip_op();
  Case test_case = make_case(op, shape_params({2, 3}), "small");
  DataSet data = make_data_set(test_case);
  AccuracyOutcome assessment;

  Answered() { say(4, static_cast<std::int8_t>(data.expected[0].values.at(4) / 2)); }

  /// Makes an answer that is right except for one element.
  void say(std::size_t element, std::int8_t value) {
    std::vector<HostTensor> outputs = {data.expected[0].values};
    outputs[0].as<std::int8_t>()[element] = value;
    assessment.outputs = std::make_shared<std::vector<HostTensor>>(std::move(outputs));
  }
  const HostTensor& y() const { return assessment.outputs->front(); }
};

TEST(Dump, WritesEveryTensorWhereNumpyFindsIt) {
  const test::TemporaryFolder root;
  const Answered answer;
  const std::filesystem::path folder = dump_folder(root.path() / "deep" / "er", answer.test_case.id);
  EXPECT_EQ(folder, root.path() / "deep" / "er" / "flip-small-plain");
  dump_tensors(folder, answer.test_case, answer.data, answer.assessment);
  EXPECT_EQ(hash_of(read_npy(folder / "x.npy")), hash_of(answer.data.inputs[0]));
  EXPECT_EQ(hash_of(read_npy(folder / "y.got.npy")), hash_of(answer.y()));
  EXPECT_EQ(hash_of(read_npy(folder / "y.expected.npy")), hash_of(answer.data.expected[0].values));
  const HostTensor error = read_npy(folder / "y.error.npy");
  EXPECT_EQ(error.dtype(), DType::F64);
  EXPECT_EQ(error.shape(), (Shape{2, 3}));
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(error.at(i), answer.y().at(i) - answer.data.expected[0].values.at(i)) << i;
  }
}

TEST(Dump, BlamesNoRowIfItCannotBeWritten) {
  const test::TemporaryFolder root;
  const Answered answer;
  root.write("file", "");
  EXPECT_THROW(dump_folder(root.path() / "file", answer.test_case.id), DumpFailed);
  EXPECT_THROW(dump_tensors(root.path() / "gone", answer.test_case, answer.data, answer.assessment),
               DumpFailed);
}

TEST(Dump, AnIdLongerThanANameOfAFolderGetsOneOfItsOwn) {
  const test::TemporaryFolder root;
  const std::string id = "flip/" + std::string(300, 'n') + "/plain";
  const std::filesystem::path folder = dump_folder(root.path(), id);
  EXPECT_TRUE(std::filesystem::is_directory(folder));
  EXPECT_NE(folder, dump_folder(root.path(), id + "2"));
  EXPECT_EQ(folder, dump_folder(root.path(), id));
}

TEST(Dump, WritesOverAnOlderDump) {
  const test::TemporaryFolder root;
  Answered answer;
  dump_tensors(root.path(), answer.test_case, answer.data, answer.assessment);
  answer.say(0, 99);
  const std::filesystem::path& folder = root.path();
  dump_tensors(folder, answer.test_case, answer.data, answer.assessment);
  EXPECT_EQ(read_npy(folder / "y.got.npy").at(0), 99);
}

TEST(Dump, AFolderThatCannotBeMadeIsAnErrorOfTheInfrastructure) {
  const test::TemporaryFolder root;
  const std::filesystem::path file = root.write("file", "not a folder");
  try {
    dump_folder(file, "flip/small/plain");
    FAIL() << "a file was taken for a folder";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("dumping a case: creating '" + file.string()));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Not a directory"));
  }
}

TEST(Dump, NoTwoIdsShareAFolder) {
  const test::TemporaryFolder root;
  const std::set<std::filesystem::path> folders = {
      dump_folder(root.path(), "a/b_c"), dump_folder(root.path(), "a_b/c"), dump_folder(root.path(), "a/b/c"),
      dump_folder(root.path(), "a_b_c"), dump_folder(root.path(), "a/b/c/versus")};
  EXPECT_EQ(folders.size(), 5U);
  for (const std::filesystem::path& folder : folders) EXPECT_EQ(folder.parent_path(), root.path());
}

TEST(Dump, TellsWhatEachDispatchRuns) {
  const test::TemporaryFolder root;
  root.write("tiny.comp",
             "#version 450\nlayout(binding = 0) buffer Y { uint y[]; };\nvoid main() { y[0] = FIVE; }\n");
  gpu::ShaderLibrary shaders({.directories = {root.path()}, .cache_directory = {}});
  Dispatch dispatch{.label = "the/first one", .shader = "tiny.comp", .defines = {{"FIVE", "5u"}}};
  dispatch.workgroups = {3, 2, 1};
  dispatch.constants = {{.name = "tile_m", .value = 7}};
  dispatch.push.add(std::int64_t{255});
  dispatch.bindings = {Resource::tensor(2), sampled(Resource::scratch(0))};
  Dispatch setup{.label = "second", .shader = "tiny.comp", .defines = {{"FIVE", "6u"}}};
  setup.role = DispatchRole::Setup;
  dump_program(root.path(), {.dispatches = {dispatch, setup}}, shaders);

  EXPECT_THAT(root.read("0.the-first-one.spvasm"),
              ::testing::StartsWith("; the/first one (op)\n"
                                    "; shader tiny.comp\n"
                                    "; #define FIVE 5u\n"
                                    "; 3 x 2 x 1 workgroups of 64 x 1 x 1 invocations\n"
                                    "; specialization constant tile_m = 7\n"
                                    "; push constant word 0 = 0x000000ff\n"
                                    "; binding 0: tensor 2\n"
                                    "; binding 1: scratch 0, through a sampler\n"
                                    "; SPIR-V "));
  EXPECT_THAT(root.read("0.the-first-one.spvasm"), ::testing::ContainsRegex("EntryPoint.*main"));
  EXPECT_THAT(root.read("0.the-first-one.spvasm"), ::testing::ContainsRegex("Constant +5"));
  EXPECT_THAT(root.read("1.second.spvasm"), ::testing::StartsWith("; second (setup)\n"));
  EXPECT_THAT(root.read("1.second.spvasm"), ::testing::ContainsRegex("Constant +6"));
}

}  // namespace
}  // namespace assay
