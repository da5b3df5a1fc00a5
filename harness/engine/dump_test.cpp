#include "harness/engine/dump.h"

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/npy.h"
#include "harness/engine/test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace assay {
namespace {

using testing::flip_op;
using testing::make_case;
using testing::shape_params;

struct Answer {
  Op op = flip_op();
  Case one = make_case(op, shape_params({2, 3}), "small");
  DataSet data = make_data_set(one);
  Assessment assessment;

  Answer() {
    assessment.outputs = {data.expected[0].values};
    assessment.outputs[0].as<std::int8_t>()[4] = static_cast<std::int8_t>(data.expected[0].values.at(4) / 2);
  }
};

TEST(Dump, WritesEveryTensorWhereNumpyFindsIt) {
  const testing::TemporaryFolder root;
  const Answer answer;
  const std::filesystem::path folder =
      dump_tensors(root.path() / "deep" / "er", answer.one, answer.data, answer.assessment);
  EXPECT_EQ(folder, root.path() / "deep" / "er" / "flip_small_plain");
  EXPECT_EQ(hash_of(read_npy(folder / "x.npy")), hash_of(answer.data.inputs[0]));
  EXPECT_EQ(hash_of(read_npy(folder / "y.got.npy")), hash_of(answer.assessment.outputs[0]));
  EXPECT_EQ(hash_of(read_npy(folder / "y.expected.npy")), hash_of(answer.data.expected[0].values));
  const HostTensor error = read_npy(folder / "y.error.npy");
  EXPECT_EQ(error.dtype(), DType::F64);
  EXPECT_EQ(error.shape(), (Shape{2, 3}));
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(error.at(i), answer.assessment.outputs[0].at(i) - answer.data.expected[0].values.at(i)) << i;
  }
}

TEST(Dump, WritesOverAnOlderDump) {
  const testing::TemporaryFolder root;
  Answer answer;
  dump_tensors(root.path(), answer.one, answer.data, answer.assessment);
  answer.assessment.outputs[0].as<std::int8_t>()[0] = 99;
  const std::filesystem::path folder = dump_tensors(root.path(), answer.one, answer.data, answer.assessment);
  EXPECT_EQ(read_npy(folder / "y.got.npy").at(0), 99);
}

TEST(Dump, AFolderThatCannotBeMadeIsAnErrorOfTheInfrastructure) {
  const testing::TemporaryFolder root;
  const std::filesystem::path file = root.path() / "file";
  std::ofstream(file) << "not a folder";
  const Answer answer;
  try {
    dump_tensors(file, answer.one, answer.data, answer.assessment);
    FAIL() << "a file was taken for a folder";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("dumping tensors: creating '" + file.string()));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Not a directory"));
  }
}

}  // namespace
}  // namespace assay
