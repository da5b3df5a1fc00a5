#include "harness/tensor/npy/array_file.h"

#include "harness/base/error.h"
#include "harness/tensor/npy/npy.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string_view>
#include <zip.h>

namespace assay {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ZipArchive = std::unique_ptr<zip_t, ZipDiscard>;

/// Writes an archive of two members in a folder of its own.
class NpzTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "op.npz"; }

  /// Writes the members 00/a.npy and 00/b.npy, whose content need not be valid .npy files here.
  std::filesystem::path write(int compression = ZIP_CM_STORE) const {
    const std::string long_text(1000, 'x');
    ZipArchive archive(zip_open(path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr));
    add(*archive, "00/a.npy", "some bytes", compression);
    add(*archive, "00/b.npy", long_text, compression);
    if (zip_close(archive.get()) != 0) throw std::runtime_error(zip_strerror(archive.get()));
    static_cast<void>(archive.release());  // zip_close freed it
    return path();
  }

  std::string content() const { return read_file(path()); }

  std::filesystem::path rewrite(std::string_view content) const { return folder_.write("op.npz", content); }

 private:
  static void add(zip_t& archive, const char* name, std::string_view text, int compression) {
    zip_source_t* source = zip_source_buffer(&archive, text.data(), text.size(), 0);
    const zip_int64_t index = zip_file_add(&archive, name, source, 0);
    if (index < 0 ||
        zip_set_file_compression(&archive, static_cast<zip_uint64_t>(index), compression, 0) != 0)
      throw std::runtime_error(zip_strerror(&archive));
  }

  TemporaryFolder folder_;
};

TEST_F(NpzTest, MembersAreReadByName) {
  const NpzMembers members = read_npz(write());
  ASSERT_EQ(members.size(), 2U);
  const std::vector<std::byte>& a = members.at("00/a.npy");
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(a.data()), a.size()), "some bytes");
  EXPECT_EQ(members.at("00/b.npy").size(), 1000U);
}

TEST_F(NpzTest, AMissingArchiveIsNamed) {
  EXPECT_THAT([&] { read_npz(path()); }, ThrowsMessage<Error>(AllOf(StartsWith("reading " + path().string()),
                                                                    HasSubstr("no such file"))));
}

TEST_F(NpzTest, AnotherKindOfFileIsRefused) {
  EXPECT_THAT([&] { read_npz(rewrite("op: layout\n")); },
              ThrowsMessage<Error>(HasSubstr("op.npz: it is not a .npz archive")));
}

TEST_F(NpzTest, DeflatedMembersAreInflated) {
  const NpzMembers stored = read_npz(write());
  EXPECT_EQ(read_npz(write(ZIP_CM_DEFLATE)), stored);
}

TEST_F(NpzTest, AnotherCompressionIsRefused) {
  EXPECT_THAT(
      [&] { read_npz(write(ZIP_CM_BZIP2)); },
      ThrowsMessage<Error>(HasSubstr("00/a.npy: it is compressed by method 12; save it with numpy.savez")));
}

TEST_F(NpzTest, AMemberIsFoundWithAndWithoutItsSuffix) {
  write();
  EXPECT_EQ(read_npz_member(path(), "00/b").size(), 1000U);
  EXPECT_EQ(read_npz_member(path(), "00/b.npy").size(), 1000U);
  EXPECT_THAT(
      [&] { read_npz_member(path(), "b"); },
      ThrowsMessage<Error>(HasSubstr("op.npz: it has no member 'b'; its members are: 00/a.npy, 00/b.npy")));
}

TEST_F(NpzTest, AMemberThatIsNoArrayIsNamed) {
  write();
  EXPECT_THAT(
      [&] {
        read_array({path().string(), "00/a"});
      },
      ThrowsMessage<Error>(HasSubstr("op.npz[00/a]: it is not a .npy file")));
}

TEST_F(NpzTest, AnArchiveOfNumPyIsRead) {
  // numpy.savez writes zip64 fields into each local header.
  const NpzMembers members = read_npz(ASSAY_SOURCE_DIR "/references/golden/q8ta_relu.npz");
  EXPECT_FALSE(members.empty());
}

TEST_F(NpzTest, AChangedByteOfAMemberIsRefused) {
  write();
  std::string changed = content();
  changed[changed.find("some bytes") + 3] = 'E';
  EXPECT_THAT([&] { read_npz(rewrite(changed)); },
              ThrowsMessage<Error>(HasSubstr("op.npz: 00/a.npy: its checksum (CRC)")));
}

TEST_F(NpzTest, EveryTruncationIsRefused) {
  write();
  const std::string whole = content();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THROW(read_npz(rewrite(std::string_view(whole).substr(0, size))), Error) << size;
  }
}

TEST_F(NpzTest, NoClaimOfASizeTakesMemory) {
  write(ZIP_CM_DEFLATE);
  std::string claim = content();
  // The size of b in the directory: 24 bytes after the start of its entry, the second of two.
  const std::size_t entry = claim.rfind("PK\x01\x02");
  claim.replace(entry + 24, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT([&] { read_npz(rewrite(claim)); },
              ThrowsMessage<Error>(HasSubstr("00/b.npy: it claims more data than it can hold")));
}

TEST_F(NpzTest, NoFlippedBitIsReadAsOtherContent) {
  for (const int compression : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const NpzMembers members = read_npz(write(compression));
    const std::string whole = content();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
      rewrite(changed);
      try {
        for (const auto& [name, bytes] : read_npz(path())) {
          EXPECT_TRUE(bytes == members.at("00/a.npy") || bytes == members.at("00/b.npy")) << "byte " << i;
        }
      } catch (const Error&) {
        // Being refused is fine too.
      }
    }
  }
}

}  // namespace

}  // namespace assay
