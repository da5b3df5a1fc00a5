#include "harness/engine/accuracy/answer_cache.h"

#include "harness/engine/accuracy/data_set.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;

using test::flip_op;
using test::make_case;
using test::row;
using test::shape_params;

/// Answers of a bounded output, which is written in part, and of a banded one; every list has entries in one
/// of them.
std::vector<Expected> answers() {
  std::vector<double> unrounded(4, 0.1);
  return {{.values = row<float>({1, -0.0F, 3, 4}),
           .bound = {1, 2, 3, 4},
           .magnitude = {5, 6, 7, 8},
           .sums = {1, 2, 3, 4},
           .kept = {1, 0, 0, 1}},
          {.values = row<std::int8_t>({1, 2, 3, 4}), .magnitude = {0, 0, 0, 1}, .unrounded = unrounded}};
}

std::vector<TensorSpec> outputs() {
  TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .shape = {4}};
  y.output_class = OutputClass::Bounded;
  TensorSpec q = y;
  y.written_in_part = true;
  q.name = "q";
  q.dtype = DType::I8;
  q.output_class = OutputClass::Banded;
  return {y, q};
}

void expect_same(const std::vector<Expected>& got, const std::vector<Expected>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(same_bytes(std::span(&got[i].values, 1), std::span(&want[i].values, 1))) << i;
    EXPECT_EQ(got[i].bound, want[i].bound) << i;
    EXPECT_EQ(got[i].magnitude, want[i].magnitude) << i;
    EXPECT_EQ(got[i].sums, want[i].sums) << i;
    EXPECT_EQ(got[i].unrounded, want[i].unrounded) << i;
    EXPECT_EQ(got[i].kept, want[i].kept) << i;
  }
}

class AnswerCacheTest : public testing::Test {
 protected:
  AnswerCache cache(std::uint64_t most_bytes = 1 << 20) const {
    return AnswerCache(
        {.directory = folder_.path() / "answers", .reference_code = "code", .most_bytes = most_bytes});
  }

  std::size_t files() const {
    const fs::path directory = folder_.path() / "answers";
    if (!fs::exists(directory)) return 0;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), {}));
  }

  test::TemporaryFolder folder_;
};

constexpr double long_ms = 1000;

TEST_F(AnswerCacheTest, WhatWasStoredIsFound) {
  EXPECT_FALSE(cache().load("key", outputs()).has_value());
  cache().store("key", answers(), long_ms);
  const auto found = cache().load("key", outputs());
  ASSERT_TRUE(found.has_value());
  expect_same(*found, answers());
  EXPECT_FALSE(cache().load("other", outputs()).has_value());
  EXPECT_EQ(files(), 1U) << "nothing is left of the writing";
}

TEST_F(AnswerCacheTest, WhatWasQuickIsNotWorthKeeping) {
  cache().store("key", answers(), 49);
  EXPECT_EQ(files(), 0U);
}

TEST_F(AnswerCacheTest, WhatIsMadeSoonerThanReadIsNotKept) {
  const std::vector<Expected> large = {{.values = HostTensor(DType::F32, {8'000'000})}};
  const AnswerCache roomy = cache(std::uint64_t{1} << 30);
  roomy.store("key", large, 60);
  EXPECT_EQ(files(), 0U);
  roomy.store("key", large, 70);
  EXPECT_EQ(files(), 1U);
}

TEST_F(AnswerCacheTest, WithoutAFolderNothingIsKept) {
  const AnswerCache none({.directory = {}, .reference_code = "code"});
  none.store("key", answers(), long_ms);
  EXPECT_FALSE(none.load("key", outputs()).has_value());
}

TEST_F(AnswerCacheTest, AFolderThatCannotBeWrittenIsNoError) {
  const fs::path file = folder_.write("in_the_way", "");
  const AnswerCache none({.directory = file / "answers", .reference_code = "code"});
  none.store("key", answers(), long_ms);
  EXPECT_FALSE(none.load("key", outputs()).has_value());
}

TEST_F(AnswerCacheTest, EveryChangedByteAndEveryTruncationIsNoticed) {
  cache().store("key", answers(), long_ms);
  const fs::path file = cache().file_of("key");
  const std::string whole = test::read_file(file);
  const auto rewrite = [&](std::string_view content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    return cache().load("key", outputs()).has_value();
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    EXPECT_FALSE(rewrite(changed)) << i;
    EXPECT_FALSE(rewrite(std::string_view(whole).substr(0, i))) << i;
  }
  EXPECT_FALSE(rewrite(whole + " "));
  EXPECT_TRUE(rewrite(whole));
}

TEST_F(AnswerCacheTest, AFileThatIsTooLargeOrNoFileIsNotReadAndMadeAnew) {
  cache().store("key", answers(), long_ms);
  const fs::path file = cache().file_of("key");
  fs::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_FALSE(cache().load("key", outputs()).has_value()) << "a sparse file of 1 TiB";
  cache().store("key", answers(), long_ms);
  EXPECT_TRUE(cache().load("key", outputs()).has_value());

  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(cache().load("key", outputs()).has_value()) << "nobody writes to the FIFO";
  cache().store("key", answers(), long_ms);
  EXPECT_TRUE(cache().load("key", outputs()).has_value());

  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(cache().load("key", outputs()).has_value());
  cache().store("key", answers(), long_ms);
  EXPECT_TRUE(fs::is_directory(file));
  EXPECT_EQ(files(), 1U) << "nothing is left of the writing";
}

TEST_F(AnswerCacheTest, NoAnswersAreLargerThanItsLimitOfAFileToRead) {
  std::vector<Expected> full = answers();
  for (Expected& one : full) {
    one.bound.assign(4, 1);
    one.magnitude.assign(4, 1);
    one.sums.assign(4, 1);
    one.unrounded.assign(4, 1);
    one.kept.assign(4, 1);
  }
  EXPECT_EQ(encode_answers(full).size(), most_encoded_bytes(outputs()));
  EXPECT_LT(encode_answers(answers()).size(), most_encoded_bytes(outputs()));
}

TEST_F(AnswerCacheTest, AFileThatIsTooLargeCostsNoOtherItsPlace) {
  const std::uint64_t bytes = encode_answers(answers()).size();
  const AnswerCache small = cache(3 * bytes);
  for (const char* key : {"a", "b", "large"}) small.store(key, answers(), long_ms);
  fs::resize_file(small.file_of("large"), std::uintmax_t{1} << 40);
  small.store("c", answers(), long_ms);
  EXPECT_FALSE(fs::exists(small.file_of("large")));
  for (const char* key : {"a", "b", "c"}) EXPECT_TRUE(fs::exists(small.file_of(key))) << key;
}

TEST_F(AnswerCacheTest, FilesThatItDidNotWriteStay) {
  const std::uint64_t bytes = encode_answers(answers()).size();
  const fs::path diary = folder_.write("answers/diary", "dear diary");
  fs::last_write_time(diary, fs::file_time_type::clock::now() - std::chrono::hours(1000));
  const AnswerCache small = cache(bytes);
  for (const char* key : {"a", "b"}) small.store(key, answers(), long_ms);
  EXPECT_TRUE(fs::exists(diary));
  EXPECT_FALSE(fs::exists(small.file_of("a")));
}

TEST_F(AnswerCacheTest, AnswersOfOtherOutputsAreNotTaken) {
  cache().store("key", answers(), long_ms);
  std::vector<TensorSpec> one = outputs();
  one.pop_back();
  EXPECT_FALSE(cache().load("key", one).has_value());
  std::vector<TensorSpec> reshaped = outputs();
  reshaped[0].shape = {2, 2};
  EXPECT_FALSE(cache().load("key", reshaped).has_value());
  std::vector<TensorSpec> exact = outputs();
  exact[0].output_class = OutputClass::Exact;
  EXPECT_FALSE(cache().load("key", exact).has_value());
}

TEST_F(AnswerCacheTest, TheKeyDependsOnAllThatAnswersDependOn) {
  const Op op = flip_op();
  const Params params = shape_params({2, 3});
  const std::vector<TensorSpec> tensors = op.tensors(params);
  const std::string key = cache().key_of(op, params, tensors, "hash");
  EXPECT_EQ(cache().key_of(op, params, tensors, "hash"), key);
  std::set<std::string> keys{key};

  Op renamed = op;
  renamed.name = "flop";
  keys.insert(cache().key_of(renamed, params, tensors, "hash"));
  Op newer = op;
  newer.version = 2;
  keys.insert(cache().key_of(newer, params, tensors, "hash"));
  Params more = params;
  more.set("axis", std::int64_t{1});
  keys.insert(cache().key_of(op, more, tensors, "hash"));
  std::vector<TensorSpec> halves = tensors;
  halves[0].dtype = DType::F16;
  keys.insert(cache().key_of(op, params, halves, "hash"));
  std::vector<TensorSpec> reshaped = tensors;
  reshaped[1].shape = {3, 2};
  keys.insert(cache().key_of(op, params, reshaped, "hash"));
  keys.insert(cache().key_of(op, params, tensors, "other hash"));
  const AnswerCache of_other_code({.directory = {}, .reference_code = "other code"});
  keys.insert(of_other_code.key_of(op, params, tensors, "hash"));
  EXPECT_EQ(keys.size(), 8U);
}

TEST_F(AnswerCacheTest, TheOldestGoWhenThereAreTooMany) {
  const std::uint64_t bytes = encode_answers(answers()).size();
  const AnswerCache small = cache(3 * bytes);
  const auto now = fs::file_time_type::clock::now();
  for (const char* key : {"a", "b", "c"}) small.store(key, answers(), long_ms);
  fs::last_write_time(small.file_of("a"), now - std::chrono::hours(1));
  fs::last_write_time(small.file_of("b"), now - std::chrono::hours(3));
  fs::last_write_time(small.file_of("c"), now - std::chrono::hours(2));
  EXPECT_TRUE(small.load("b", outputs()).has_value()) << "which makes it the newest";
  small.store("d", answers(), long_ms);
  EXPECT_TRUE(fs::exists(small.file_of("a")));
  EXPECT_TRUE(fs::exists(small.file_of("b")));
  EXPECT_FALSE(fs::exists(small.file_of("c")));
  EXPECT_TRUE(fs::exists(small.file_of("d")));
}

TEST_F(AnswerCacheTest, WhatIsLargerThanAllIsNotKept) {
  const AnswerCache tiny = cache(encode_answers(answers()).size() - 1);
  tiny.store("key", answers(), long_ms);
  EXPECT_EQ(files(), 0U);
}

TEST_F(AnswerCacheTest, SeveralProcessesMayReadAndWriteAtOnce) {
  const auto stores_and_loads = [&] {
    bool found_always = true;
    for (int round = 0; round < 100; ++round) {
      cache().store("key", answers(), long_ms);
      found_always = found_always && cache().load("key", outputs()).has_value();
    }
    return found_always;
  };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(stores_and_loads() ? 0 : 1);
  EXPECT_TRUE(stores_and_loads()) << "a file is replaced whole";
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 1U);
}

/// Counts the calls of the case's reference.
struct Counted {
  Op op = flip_op();
  int calls = 0;

  Counted() {
    op.reference = [this, reference = op.reference](const Params& params,
                                                    std::span<const HostTensor> inputs) {
      ++calls;
      return reference(params, inputs);
    };
  }
};

TEST_F(AnswerCacheTest, ADataSetAsksTheReferenceOnce) {
  Counted counted;
  const AnswerCache keeps_all(
      {.directory = folder_.path() / "answers", .reference_code = "code", .least_ms = 0});
  const Case test_case = make_case(counted.op, shape_params({2, 3}));
  const DataSet first = make_data_set(test_case, &keeps_all);
  const DataSet second = make_data_set(test_case, &keeps_all);
  EXPECT_EQ(counted.calls, 1);
  expect_same(second.expected, first.expected);
  make_data_set(test_case);
  EXPECT_EQ(counted.calls, 2) << "without a cache";
  Case reseeded = test_case;
  reseeded.seed = 1;
  make_data_set(reseeded, &keeps_all);
  EXPECT_EQ(counted.calls, 3) << "of other inputs";
}

TEST(AnswerCodec, WhatItDidNotWriteIsNothing) {
  EXPECT_FALSE(decode_answers({}).has_value());
  const std::string text(200, 'x');
  EXPECT_FALSE(decode_answers(std::as_bytes(std::span(text))).has_value());
}

}  // namespace
}  // namespace assay
