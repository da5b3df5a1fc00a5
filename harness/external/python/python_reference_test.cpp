#include "harness/external/python/python_reference.h"

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <thread>

namespace assay::external {
namespace {

namespace fs = std::filesystem;
using namespace test;

using ::testing::AllOf;
using ::testing::HasSubstr;

HostTensor floats(const Shape& shape, std::vector<float> values) {
  HostTensor tensor(DType::F32, shape);
  std::ranges::copy(values, tensor.as<float>().begin());
  return tensor;
}

class PythonReferenceTest : public ::testing::Test {
 protected:
  std::vector<PythonAnswer> compute(const std::string& text, const std::vector<WantedOutput>& outputs,
                                    const Params& params = {}) {
    folder.write("reference.py", text);
    const std::vector<NamedTensor> inputs{{"x", x}};
    return PythonReference(folder / "reference.py", "f", limits).compute(params, inputs, outputs);
  }

  /// The message of a reference that fails, for an output y of three floats.
  std::string failure(const std::string& text) {
    return error_of([&] { compute(text, {{"y", DType::F32, {3}}}); });
  }

  std::string refusal(const std::string& returned, DType dtype = DType::F32) {
    return error_of([&] {
      compute("import numpy as np\ndef f(x):\n    return " + returned + "\n", {{"y", dtype, {3}}});
    });
  }

  HostTensor x = floats({3}, {1, -2, 0.5});
  TemporaryFolder folder;
  PythonLimits limits{.seconds = 20, .cpu_seconds = 20};
};

TEST_F(PythonReferenceTest, AnswersInFloat64OrInTheOutputsDtype) {
  const auto answers = compute(
      "import numpy as np\n"
      "def f(x):\n"
      "    assert x.dtype == np.float32 and not x.flags.writeable\n"
      "    return {'wide': x.astype(float) / 3, 'same': x * 2, 'half': x.astype(np.float16),\n"
      "            'small': [1, 2, 255], 'index': np.array([3, -4, 5]), 'wide_bound': abs(x)}\n",
      {{"wide", DType::F32, {3}},
       {"same", DType::F32, {3}},
       {"half", DType::F16, {3}},
       {"small", DType::U8, {3}},
       {"index", DType::I32, {3}}});
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers[0].values.dtype(), DType::F64);
  EXPECT_EQ(answers[0].values.at(1), -2.0 / 3);
  ASSERT_TRUE(answers[0].bound);
  EXPECT_EQ(answers[0].bound->at(1), 2);
  EXPECT_EQ(answers[1].values.dtype(), DType::F32);
  EXPECT_EQ(answers[1].values.at(1), -4);
  EXPECT_FALSE(answers[1].bound);
  EXPECT_EQ(answers[2].values.dtype(), DType::F16);
  EXPECT_EQ(answers[3].values.dtype(), DType::U8);
  EXPECT_EQ(answers[3].values.at(2), 255);
  EXPECT_EQ(answers[4].values.dtype(), DType::I32);
  EXPECT_EQ(answers[4].values.at(1), -4);
}

TEST_F(PythonReferenceTest, GetsTheParametersThatItTakes) {
  Params params;
  params.set("n", std::int64_t{7});
  params.set("eps", 0.1);
  params.set("flag", true);
  params.set("dtype", std::string("f16"));
  params.set("shape", std::vector<std::int64_t>{2, 3});
  params.set("q", QParams{0.5, -3});
  params.set("other", std::int64_t{1});
  const std::string checks =
      "    assert n == 7 and isinstance(n, int) and eps == 0.1 and flag is True and dtype == 'f16'\n"
      "    assert shape == (2, 3) and q.scale == 0.5 and q.zero_point == -3\n";
  const std::vector<WantedOutput> outputs{{"y", DType::F32, {3}}};
  compute("def f(x, *, n, eps, flag, dtype, shape, q):\n" + checks + "    return {'y': x}\n", outputs,
          params);
  compute("def f(x, **p):\n    assert len(p) == 7 and p['n'] == 7\n    return {'y': x}\n", outputs, params);
  EXPECT_THAT(error_of([&] { compute("def f(x, *, m):\n    return {'y': x}\n", outputs, params); }),
              AllOf(HasSubstr("f(x, *, m) cannot be called with x"), HasSubstr("'m'")));
  EXPECT_THAT(error_of([&] { compute("def f(z):\n    return {'y': z}\n", outputs, params); }),
              HasSubstr("f(z) cannot be called with x"));
}

TEST_F(PythonReferenceTest, AWrongAnswerIsNamed) {
  EXPECT_THAT(refusal("{'y': x[:2]}"), HasSubstr("'y' has shape [2], and the op declares [3]"));
  EXPECT_THAT(refusal("{'y': x[None]}"), HasSubstr("'y' has shape [1, 3], and the op declares [3]"));
  EXPECT_THAT(refusal("{}"), HasSubstr("its answer has other outputs than the op: 'y' is missing"));
  EXPECT_THAT(refusal("{'y': x, 'z': x}"), HasSubstr("'z' is no output"));
  EXPECT_THAT(refusal("x"), HasSubstr("it returned ndarray, and must return a dict"));
  EXPECT_THAT(refusal("{'y': ['a', 'b', 'c']}"), HasSubstr("must be an array of numbers"));
  EXPECT_THAT(refusal("{'y': np.array([1j, 2, 3])}"), HasSubstr("complex128"));
  EXPECT_THAT(refusal("{'y': np.array([None, 1, 2])}"), HasSubstr("object"));
  EXPECT_THAT(refusal("{'y': x}", DType::I32),
              HasSubstr("'y' is float32, and the op declares int32: round it"));
  EXPECT_THAT(refusal("{'y': [1, 2, 128]}", DType::I8),
              HasSubstr("'y' has the value 128, and int8 holds -128 to 127"));
  EXPECT_THAT(refusal("{'y': x, 'y_bound': [1, np.nan, 1]}"),
              HasSubstr("'y_bound' has NaN or a negative entry"));
  EXPECT_THAT(refusal("{'y': x, 'y_bound': [1, -1, 1]}"), HasSubstr("negative"));
  EXPECT_THAT(refusal("{'y': x, 'y_bound': [1]}"), HasSubstr("'y_bound' has shape [1]"));
  EXPECT_EQ(refusal("{'y': [np.nan, np.inf, 1]}"), "") << "a kernel may give NaN";
}

TEST_F(PythonReferenceTest, AnExceptionIsToldWithItsPlace) {
  const std::string told = failure(
      "import numpy as np\n\ndef helper(x):\n    return x[7]\n\ndef f(x):\n    return {'y': helper(x)}\n");
  EXPECT_THAT(told, HasSubstr("running the reference " + (folder / "reference.py").string() + ": "));
  EXPECT_THAT(told, HasSubstr("reference.py:7: in f: return {'y': helper(x)}"));
  EXPECT_THAT(told, HasSubstr("reference.py:4: in helper: return x[7]"));
  EXPECT_THAT(told, HasSubstr("IndexError: index 7 is out of bounds"));
  EXPECT_THAT(failure("def f(x):\n  return {\n"), HasSubstr("reference.py:2: '{' was never closed"));
  EXPECT_THAT(failure("def g(x):\n    return {}\nimport math\n"),
              HasSubstr("it has no function 'f'; it has: g"));
  EXPECT_THAT(failure("def f(x):\n    x[0] = 1\n"), HasSubstr("read-only"));
  EXPECT_THAT(failure("import nothing_like_this\n"), HasSubstr("No module named 'nothing_like_this'"));
}

TEST_F(PythonReferenceTest, MayImportWhatLiesBesideIt) {
  folder.write("sibling.py", "factor = 4\n");
  const auto answers = compute("from sibling import factor\ndef f(x):\n    return {'y': x * factor}\n",
                               {{"y", DType::F32, {3}}});
  EXPECT_EQ(answers[0].values.at(0), 4);
}

TEST_F(PythonReferenceTest, HasAnEmptyEnvironmentAndANewFolder) {
  ::setenv("ASSAY_SECRET", "known", 1);
  const std::string text =
      "import os, sys\n"
      "def f(x):\n"
      "    assert 'ASSAY_SECRET' not in os.environ, os.environ\n"
      "    assert sorted(os.environ) == sorted(['PATH', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS',\n"
      "                                         'MKL_NUM_THREADS', 'PYTHONHASHSEED'] +\n"
      "                                        (['LC_CTYPE'] if 'LC_CTYPE' in os.environ else []))\n"
      "    assert os.listdir('.') == []\n"
      "    return {'y': x}\n";
  EXPECT_EQ(failure(text), "");
  ::unsetenv("ASSAY_SECRET");
}

TEST_F(PythonReferenceTest, EndsAtItsLimits) {
  limits.seconds = 1;
  const Stopwatch watch;
  EXPECT_THAT(failure("import time\ndef f(x):\n    time.sleep(1000)\n"),
              HasSubstr("it took more than 1 s and was stopped"));
  limits.seconds = 200;  // a busy machine takes long for a second of CPU time
  limits.cpu_seconds = 1;
  EXPECT_THAT(failure("def f(x):\n    while True:\n        pass\n"),
              HasSubstr("does it take more than 1 s of CPU time"));
  EXPECT_LT(watch.s(), 200);
  limits.cpu_seconds = 20;
  limits.memory_bytes = std::uint64_t{2} << 30;
  EXPECT_THAT(failure("def f(x):\n    return {'y': bytearray(4 << 30)}\n"), HasSubstr("MemoryError"));
  limits.file_bytes = 1 << 20;
  EXPECT_THAT(failure("def f(x):\n    open('a', 'wb').write(b'0' * (10 << 20))\n"),
              HasSubstr("File too large"));
}

/// Whether a process has ended, at the latest after a while.
bool has_ended(int pid) {
  for (const Stopwatch watch; watch.s() < 10;) {
    if (::kill(pid, 0) != 0) return true;
  }
  return false;
}

TEST_F(PythonReferenceTest, WhatItHasStartedEndsWithIt) {
  const std::string pid_file = (folder / "pid").string();
  const auto started = [&](const std::string& before) {
    EXPECT_EQ(failure("import os, time\ndef f(x):\n    pid = os.fork()\n    if pid == 0:\n" + before +
                      "        time.sleep(1000)\n        os._exit(0)\n    open('" + pid_file +
                      "', 'w').write(str(pid))\n    return {'y': x}\n"),
              "");
    return std::stoi(folder.read("pid"));
  };
  EXPECT_TRUE(has_ended(started("")));
  EXPECT_TRUE(has_ended(started("        os.setsid()\n")));
}

TEST_F(PythonReferenceTest, AnEarlyEndIsTold) {
  EXPECT_THAT(failure("import os\ndef f(x):\n    os._exit(0)\n"), HasSubstr("'y'"));
  EXPECT_THAT(failure("import os\ndef f(x):\n    os._exit(5)\n"), HasSubstr("it ended with code 5"));
  EXPECT_THAT(failure("import sys\ndef f(x):\n    sys.exit(0)\n"), HasSubstr("SystemExit"));
  EXPECT_THAT(failure("import os\ndef f(x):\n    os.kill(os.getpid(), 9)\n"), HasSubstr("SIGKILL"));
  EXPECT_THAT(failure("import os\ndef f(x):\n    os.kill(os.getpid(), 11)\n"), HasSubstr("signal 11"));
  EXPECT_NE(failure("import os\ndef f(x):\n    os.kill(os.getppid(), 9)\n"), "");
  EXPECT_NE(failure("import os, shutil\ndef f(x):\n    shutil.rmtree(os.path.dirname(os.getcwd()))\n"
                    "    return {'y': x}\n"),
            "");
}

TEST_F(PythonReferenceTest, WhatItPrintsDoesNotMatterAndIsBounded) {
  EXPECT_EQ(failure("import sys\ndef f(x):\n    sys.stdout.buffer.write(bytes(range(256)) * 100000)\n"
                    "    sys.stderr.write('a' * 1000000)\n    return {'y': x}\n"),
            "");
  const std::string told =
      failure("import os, sys\ndef f(x):\n    sys.stdout.write('b' * 10000000)\n    os._exit(3)\n");
  EXPECT_LT(told.size(), 5000U);
}

TEST_F(PythonReferenceTest, LeavesNoFolderBehind) {
  const auto left = [] {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
      count += entry.path().filename().string().starts_with("assay-reference-") ? 1 : 0;
    return count;
  };
  const int before = left();
  failure("def f(x):\n    return {'y': x}\n");
  failure("def f(x):\n    open('file', 'w').write('a')\n    raise ValueError('no')\n");
  EXPECT_EQ(left(), before);
}

/// Calls of one reference, whose y has one element.
class SharedDriver : public ::testing::Test {
 protected:
  double call(const std::string& body) {
    folder.write("reference.py", "import os\nimport numpy as np\ndef f(x):\n" + body);
    const std::vector<NamedTensor> inputs{{"x", x}};
    const std::vector<WantedOutput> outputs{{"y", DType::F32, {1}}};
    return reference.compute({}, inputs, outputs)[0].values.at(0);
  }

  HostTensor x = floats({1}, {1});
  TemporaryFolder folder;
  PythonReference reference{folder / "reference.py", "f"};
};

TEST_F(SharedDriver, StartsPythonOnceAndAProcessForEachCall) {
  const double driver = call("    return {'y': [float(os.getppid())]}\n");
  EXPECT_EQ(call("    return {'y': [float(os.getppid())]}\n"), driver);
  EXPECT_NE(call("    return {'y': [float(os.getpid())]}\n"),
            call("    return {'y': [float(os.getpid())]}\n"));
}

TEST_F(SharedDriver, CallsDoNotFindWhatOthersDid) {
  call("    np.pi = 3; np.random.seed(1); os.chdir('/'); os.environ['A'] = 'b'\n    return {'y': x}\n");
  EXPECT_EQ(call("    assert 'A' not in os.environ and os.listdir('.') == []\n    return {'y': [np.pi]}\n"),
            std::acos(-1.0));
  EXPECT_NE(call("    return {'y': [np.random.rand()]}\n"), call("    return {'y': [np.random.rand()]}\n"));
}

TEST_F(SharedDriver, CallsDoNotFindItsStreamsChanged) {
  call("    os.set_blocking(1, False); os.set_blocking(2, False)\n    return {'y': x}\n");
  EXPECT_EQ(call("    print('a' * 300000, flush=True)\n    return {'y': x}\n"), 1);
}

TEST_F(SharedDriver, OutlivesACallThatRemovesItsFolder) {
  const double driver = call("    return {'y': [float(os.getppid())]}\n");
  EXPECT_NE(error_of([&] { call("    import shutil\n    shutil.rmtree(os.path.dirname(os.getcwd()))\n"); }),
            "");
  EXPECT_NE(error_of([&] {
              call("    class Odd(Exception):\n        def __str__(self): raise ValueError\n    raise Odd\n");
            }),
            "");
  EXPECT_EQ(call("    return {'y': [float(os.getppid())]}\n"), driver);
}

TEST_F(SharedDriver, IsReplacedWhenACallHasKilledIt) {
  EXPECT_NE(error_of([&] { call("    os.kill(os.getppid(), 9)\n"); }), "");
  EXPECT_EQ(call("    return {'y': x}\n"), 1);
}

TEST_F(SharedDriver, OneThatWasKilledBetweenCallsIsReplaced) {
  const double driver = call("    return {'y': [float(os.getppid())]}\n");
  ASSERT_EQ(::kill(static_cast<pid_t>(driver), SIGKILL), 0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(driver), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_NE(call("    return {'y': [float(os.getppid())]}\n"), driver);
}

TEST_F(SharedDriver, SeveralThreadsMayCallAtOnce) {
  std::vector<double> seen(4);
  std::vector<std::thread> threads;
  folder.write("reference.py", "def f(x):\n    return {'y': x + 1}\n");
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] {
      const HostTensor own = floats({1}, {static_cast<float>(i)});
      const std::vector<NamedTensor> inputs{{"x", own}};
      const std::vector<WantedOutput> outputs{{"y", DType::F32, {1}}};
      for (int call = 0; call < 3; ++call) seen[i] += reference.compute({}, inputs, outputs)[0].values.at(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, (std::vector<double>{3, 6, 9, 12}));
}

TEST(PythonVersions, AreThoseOfPythonAndNumPy) {
  ASSERT_EQ(why_no_python(), std::nullopt) << "the tests need python3-numpy";
  EXPECT_THAT(python_versions(), AllOf(HasSubstr("Python 3."), HasSubstr(", NumPy ")));
}

}  // namespace
}  // namespace assay::external
