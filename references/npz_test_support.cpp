#include "references/npz_test_support.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <zip.h>

namespace assay::test {
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

}  // namespace assay::test
