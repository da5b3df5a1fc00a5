#include "references/npz_test.h"

#include "harness/base/error.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <zip.h>

namespace assay::references {
namespace {

struct ZipClose {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using ZipArchive = std::unique_ptr<zip_t, ZipClose>;
using ZipMember = std::unique_ptr<zip_file_t, ZipClose>;

ZipArchive open_archive(const std::filesystem::path& path) {
  int code = 0;
  ZipArchive archive(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw Error(why);
}

/// `size` bytes and not one more: only reading on to the end makes libzip compare the checksum.
std::vector<std::byte> read_all(zip_file_t& member, std::uint64_t size) {
  std::vector<std::byte> content(size);
  const bool whole = zip_fread(&member, content.data(), size) == static_cast<zip_int64_t>(size);
  std::array<std::byte, 1> beyond{};
  if (!whole || zip_fread(&member, beyond.data(), 1) != 0) throw Error(zip_file_strerror(&member));
  return content;
}

/// Member `index`, whose name and size are in `entry`.
std::vector<std::byte> read_member(zip_t& archive, zip_uint64_t index, const zip_stat_t& entry) {
  // A stored member is no larger than its archive, so that no claim of a size can exhaust memory.
  if (entry.comp_method != ZIP_CM_STORE) throw Error("it is compressed; save it with numpy.savez");
  if (entry.comp_size != entry.size) throw Error("its sizes contradict each other");
  const ZipMember member(zip_fopen_index(&archive, index, 0));
  if (!member) throw Error(zip_strerror(&archive));
  return read_all(*member, entry.size);
}

NpzMembers read_members(zip_t& archive) {
  NpzMembers members;
  const zip_int64_t count = zip_get_num_entries(&archive, 0);
  for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(count); ++index) {
    zip_stat_t entry;
    if (zip_stat_index(&archive, index, 0, &entry) != 0) throw Error(zip_strerror(&archive));
    try {
      members.emplace(entry.name, read_member(archive, index, entry));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", entry.name, error.what()));
    }
  }
  return members;
}

}  // namespace

NpzMembers read_npz(const std::filesystem::path& archive) {
  try {
    return read_members(*open_archive(archive));
  } catch (const Error& error) {
    throw Error(fmt::format("reading {}: {}", archive.string(), error.what()));
  }
}

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

/// An archive of two members in a folder of its own.
class NpzTest : public testing::Test {
 protected:
  NpzTest() {
    std::string pattern = testing::TempDir() + "assay_npz_XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    folder_ = pattern;
  }
  ~NpzTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path() const { return folder_ / "op.npz"; }

  /// Members 00/a.npy and 00/b.npy; their content need not be that of .npy files here.
  std::filesystem::path write(int compression = ZIP_CM_STORE) const {
    const std::string long_text(1000, 'x');
    ZipArchive archive(zip_open(path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr));
    add(*archive, "00/a.npy", "some bytes", compression);
    add(*archive, "00/b.npy", long_text, compression);
    if (zip_close(archive.get()) != 0) throw std::runtime_error(zip_strerror(archive.get()));
    static_cast<void>(archive.release());  // zip_close freed it
    return path();
  }

  std::string content() const {
    std::ifstream stream(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path rewrite(std::string_view content) const {
    std::ofstream(path(), std::ios::binary) << content;
    return path();
  }

 private:
  static void add(zip_t& archive, const char* name, std::string_view text, int compression) {
    zip_source_t* source = zip_source_buffer(&archive, text.data(), text.size(), 0);
    const zip_int64_t index = zip_file_add(&archive, name, source, 0);
    if (index < 0 ||
        zip_set_file_compression(&archive, static_cast<zip_uint64_t>(index), compression, 0) != 0)
      throw std::runtime_error(zip_strerror(&archive));
  }

  std::filesystem::path folder_;
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
                                                                    HasSubstr("No such file"))));
}

TEST_F(NpzTest, AnotherKindOfFileIsRefused) {
  EXPECT_THAT([&] { read_npz(rewrite("op: layout\n")); },
              ThrowsMessage<Error>(HasSubstr("op.npz: Not a zip")));
}

TEST_F(NpzTest, CompressedMembersAreRefused) {
  EXPECT_THAT([&] { read_npz(write(ZIP_CM_DEFLATE)); },
              ThrowsMessage<Error>(HasSubstr("op.npz: 00/a.npy: it is compressed")));
}

TEST_F(NpzTest, AChangedByteOfAMemberIsRefused) {
  write();
  std::string changed = content();
  changed[changed.find("some bytes") + 3] = 'E';
  EXPECT_THAT([&] { read_npz(rewrite(changed)); },
              ThrowsMessage<Error>(HasSubstr("op.npz: 00/a.npy: CRC error")));
}

TEST_F(NpzTest, EveryTruncationIsRefused) {
  write();
  const std::string whole = content();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THROW(read_npz(rewrite(std::string_view(whole).substr(0, size))), Error) << size;
  }
}

TEST_F(NpzTest, NoFlippedBitIsReadAsOtherContent) {
  const NpzMembers members = read_npz(write());
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
      // refused: as good
    }
  }
}

}  // namespace
}  // namespace assay::references
