#include "harness/tensor/npy/npy.h"

#include "harness/base/error.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace assay {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class NpyTest : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  std::filesystem::path write(const std::string& content) const { return folder_.write("x.npy", content); }

  /// Returns the error of reading a file with that content; "" if there is none. The same bytes in memory
  /// must give the same error.
  std::string complaint(const std::string& content) const {
    const std::string name = path("x.npy").string();
    const std::string of_file = complaint_of(name, [&] { read_npy(write(content)); });
    EXPECT_EQ(complaint_of(name, [&] { parse_npy(bytes_of(content), name); }), of_file);
    return of_file;
  }

  static std::string complaint_of(const std::string& name, const std::function<void()>& read) {
    try {
      read();
      return "";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith("reading " + name + ": "));
      EXPECT_EQ(error.code(), ExitCode::Usage);
      return error.what();
    }
  }

  static std::span<const std::byte> bytes_of(const std::string& content) {
    return std::as_bytes(std::span(content));
  }

  test::TemporaryFolder folder_;
};

std::string length_bytes(std::size_t length, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  return bytes;
}

/// Returns a file of format 1.0 with that header and data.
std::string npy(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + length_bytes(header.size(), 2) + header + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

TEST_F(NpyTest, EveryDTypeComesBackAsWritten) {
  for (const DType dtype :
       {DType::F32, DType::F16, DType::I32, DType::I16, DType::I8, DType::U8, DType::F64, DType::I64}) {
    for (const Shape& shape : {Shape{1}, Shape{5}, Shape{2, 3}, Shape{2, 3, 4, 5}}) {
      HostTensor tensor(dtype, shape);
      int value = 3;
      for (std::byte& byte : tensor.bytes()) byte = static_cast<std::byte>(value += 7);
      write_npy(path("t.npy"), tensor);
      const HostTensor back = read_npy(path("t.npy"));
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.shape(), shape);
      EXPECT_TRUE(std::ranges::equal(back.bytes(), tensor.bytes()));
    }
  }
}

TEST_F(NpyTest, AWrittenFileHasTheHeaderThatNumPyWrites) {
  HostTensor tensor(DType::F32, {3});
  write_npy(path("t.npy"), tensor);
  const std::string content = folder_.read("t.npy");
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  EXPECT_EQ(content.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(content.substr(10, dictionary.size()), dictionary);
  EXPECT_EQ(content.size(), 128U + 12U);  // the data are aligned to 64 bytes
  EXPECT_EQ(content[127], '\n');
}

TEST_F(NpyTest, BytesInMemoryReadAsTheFileDoes) {
  HostTensor tensor(DType::F16, {2, 3, 4});
  int value = 5;
  for (std::byte& byte : tensor.bytes()) byte = static_cast<std::byte>(value += 11);
  write_npy(path("t.npy"), tensor);
  const HostTensor back = parse_npy(bytes_of(folder_.read("t.npy")), "t.npy");
  EXPECT_EQ(back.dtype(), DType::F16);
  EXPECT_EQ(back.shape(), (Shape{2, 3, 4}));
  EXPECT_TRUE(std::ranges::equal(back.bytes(), tensor.bytes()));
}

TEST_F(NpyTest, DamagedBytesInMemoryAreRefusedByTheirName) {
  const std::string whole = npy(header("<f4", "(2, 3)"), std::string(24, 'x'));
  EXPECT_THAT([&] { parse_npy(bytes_of(whole).first(30), "ops.npz: 00/x.npy"); },
              testing::ThrowsMessage<Error>(StartsWith("reading ops.npz: 00/x.npy: it is truncated")));
  EXPECT_THAT([] { parse_npy({}, "nothing"); },
              testing::ThrowsMessage<Error>("reading nothing: it is empty"));
}

TEST_F(NpyTest, ReadsVersionsTwoAndThree) {
  const std::string head = header("|i1", "(2,)");
  for (const char version : {'\x02', '\x03'}) {
    const std::string content =
        std::string("\x93NUMPY") + version + '\0' + length_bytes(head.size(), 4) + head + "ab";
    EXPECT_EQ(read_npy(write(content)).at(1), 'b');
  }
}

TEST_F(NpyTest, RankZeroReadsAsOneElement) {
  EXPECT_EQ(read_npy(write(npy(header("|u1", "()"), "A"))).shape(), (Shape{1}));
}

TEST_F(NpyTest, BooleansReadAsU8) {
  const HostTensor tensor = read_npy(write(npy(header("|b1", "(2,)"), std::string("\x01\x00", 2))));
  EXPECT_EQ(tensor.dtype(), DType::U8);
  EXPECT_EQ(tensor.at(0), 1);
}

TEST_F(NpyTest, AHeaderMayBeWrittenInOtherOrderAndSpacing) {
  EXPECT_EQ(read_npy(write(npy("{\"shape\":(1,2),'descr':'|i1','fortran_order':False}", "ab"))).shape(),
            (Shape{1, 2}));
}

TEST_F(NpyTest, AMissingFileIsNamed) {
  EXPECT_THAT([&] { read_npy(path("none.npy")); },
              testing::ThrowsMessage<Error>(HasSubstr("none.npy: there is no such file")));
}

TEST_F(NpyTest, ADirectoryOrPipeIsNoFile) {
  EXPECT_THAT([&] { read_npy(folder_.path()); },
              testing::ThrowsMessage<Error>(HasSubstr("not a regular file")));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(read_npy(path("pipe")), Error);
}

TEST_F(NpyTest, AnEmptyFileIsRefused) {
  EXPECT_THAT(complaint(""), HasSubstr("it is empty"));
}

TEST_F(NpyTest, AnotherKindOfFileIsRefused) {
  EXPECT_THAT(complaint("x"), HasSubstr("not a .npy file"));
  EXPECT_THAT(complaint("op: q8ta_pixel_shuffle\n"), HasSubstr("not a .npy file"));
}

TEST_F(NpyTest, AnUnknownVersionIsRefused) {
  EXPECT_THAT(complaint(std::string("\x93NUMPY\x04\x00\x00\x00", 10)), HasSubstr("format 4.0 is unknown"));
  EXPECT_THAT(complaint(std::string("\x93NUMPY\x00\x00\x00\x00", 10)), HasSubstr("format 0.0 is unknown"));
}

TEST_F(NpyTest, EveryTruncationIsRefused) {
  const std::string whole = npy(header("<f4", "(2, 3)"), std::string(24, 'x'));
  ASSERT_EQ(complaint(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_NE(complaint(whole.substr(0, size)), "") << size;
  }
  EXPECT_THAT(complaint(whole.substr(0, 20)), HasSubstr("truncated: its header takes"));
  EXPECT_THAT(complaint(whole.substr(0, whole.size() - 1)),
              HasSubstr("truncated: its header promises 24 bytes of f32 2x3, but 23 are left"));
}

TEST_F(NpyTest, TrailingBytesAreRefused) {
  EXPECT_THAT(complaint(npy(header("|i1", "(2,)"), "abc")), HasSubstr("it has trailing bytes"));
}

TEST_F(NpyTest, AClaimOfMoreThanTheFileHasIsRefusedWithoutAllocating) {
  EXPECT_THAT(complaint(npy(header("<f8", "(1048576, 1048576)"), "abc")), HasSubstr("truncated"));
  EXPECT_THAT(complaint(npy(header("<f8", "(1048576, 1048576, 2)"), "abc")), HasSubstr("more than 2^40"));
  EXPECT_THAT(complaint(npy(header("<f8", "(4294967296, 4294967296)"), "abc")), HasSubstr("more than 2^40"));
  EXPECT_THAT(complaint(npy(header("<f8", "(99999999999999999999999,)"), "abc")), HasSubstr("a dim beyond"));
  const std::string long_header =
      std::string("\x93NUMPY\x02\x00", 8) + length_bytes(0xffffffffU, 4) + header("<f4", "(1,)");
  EXPECT_THAT(complaint(long_header), HasSubstr("truncated: its header takes 4294967295 bytes"));
}

TEST_F(NpyTest, AnEndlessHeaderIsRefused) {
  const std::string spaces = header("|i1", "(1,)") + std::string(100000, ' ');
  EXPECT_THAT(complaint(std::string("\x93NUMPY\x02\x00", 8) + length_bytes(spaces.size(), 4) + spaces + "a"),
              HasSubstr("longer than any plain array needs"));
}

TEST_F(NpyTest, FortranOrderIsRefused) {
  EXPECT_THAT(complaint(npy(header("|i1", "(1, 2)", "True"), "ab")), HasSubstr("Fortran order"));
}

TEST_F(NpyTest, BigEndianIsRefused) {
  EXPECT_THAT(complaint(npy(header(">f4", "(1,)"), "abcd")), HasSubstr("big endian"));
}

TEST_F(NpyTest, OtherDTypesAreRefused) {
  for (const char* descr : {"|O", "<c8", "<U3", "<u4", "<f16", "|S1", "<M8[ns]", ""}) {
    EXPECT_THAT(complaint(npy(header(descr, "(1,)"), "abcd")), HasSubstr("is not supported")) << descr;
  }
  EXPECT_THAT(complaint(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd")),
              HasSubstr("structured dtype"));
}

TEST_F(NpyTest, DimsBelowOneAndRanksAboveFourAreRefused) {
  EXPECT_THAT(complaint(npy(header("|i1", "(-1,)"), "a")), HasSubstr("negative dim"));
  EXPECT_THAT(complaint(npy(header("|i1", "(0,)"), "")), HasSubstr("has a dim of 0"));
  EXPECT_THAT(complaint(npy(header("|i1", "(1, 1, 1, 1, 1)"), "a")), HasSubstr("has 5 dims"));
}

TEST_F(NpyTest, MalformedHeadersAreRefused) {
  for (const char* text : {"", "{", "}", "{}", "{'descr'}", "{'descr': '|i1', 'fortran_order': False}",
                           "{'descr': '|i1', 'fortran_order': False, 'shape': 1}",
                           "{'descr': '|i1', 'fortran_order': False, 'shape': (1)}",
                           "{'descr': '|i1', 'fortran_order': False, 'shape': (,)}",
                           "{'descr': '|i1', 'fortran_order': False, 'shape': (1,",
                           "{'descr': '|i1', 'fortran_order': False, 'shape': (1.5,)}",
                           "{'descr': '|i1', 'fortran_order': 0, 'shape': (1,)}",
                           "{'descr': '|i1', 'descr': '|i1', 'fortran_order': False, 'shape': (1,)}",
                           "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), 'x': 1}",
                           "{'descr': '|i1', 'fortran_order': False, 'shape': (1,)} trailing",
                           "{'descr: '|i1', 'fortran_order': False}"}) {
    EXPECT_THAT(complaint(npy(text, "a")), HasSubstr("its header")) << text;
  }
}

TEST_F(NpyTest, NoFlippedByteOfAHeaderIsReadAsSomethingImpossible) {
  const std::string whole = npy(header("<f4", "(2, 3)"), std::string(24, 'x'));
  for (std::size_t i = 0; i < whole.size() - 24; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      if (complaint(changed).empty()) {  // being refused is fine too
        EXPECT_EQ(read_npy(path("x.npy")).bytes().size(), 24U);
      }
    }
  }
}

TEST_F(NpyTest, WritingIntoNoDirectoryIsAnInfrastructureError) {
  try {
    write_npy(path("none/t.npy"), HostTensor(DType::I8, {4}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    EXPECT_THAT(error.what(), HasSubstr("none/t.npy: it cannot be created"));
  }
}

TEST_F(NpyTest, AFullDiskIsAnInfrastructureError) {
  if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  for (const std::int64_t size : {4, 1 << 20}) {
    try {
      write_npy("/dev/full", HostTensor(DType::I8, {size}));
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::Infrastructure);
      EXPECT_THAT(error.what(), HasSubstr("is the disk full?"));
    }
  }
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST_F(NpyTest, ATensorThatWasNeverMadeIsAMistake) {
  EXPECT_THROW(write_npy(path("t.npy"), HostTensor()), std::logic_error);
  EXPECT_FALSE(std::filesystem::exists(path("t.npy")));
}

}  // namespace
}  // namespace assay
