#define ZLIB_CONST  // zlib only reads its input

#include "harness/tensor/npy/array_file.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <zlib.h>

namespace assay {
namespace {

// A zip archive ends with an end record, which locates the central directory. That has one entry per member:
// name, sizes, checksum, and the place of its local header, which the member's data follow. All numbers are
// little endian; fields that are not needed here are skipped.

constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t entry_bytes = 46;
constexpr std::size_t local_bytes = 30;
constexpr std::size_t longest_comment = 0xffff;
constexpr std::uint32_t beyond_32_bits = 0xffffffff;  ///< the number is in a zip64 record
constexpr std::uint16_t stored = 0;
constexpr std::uint16_t deflated = 8;
constexpr std::uint64_t most_deflation = 1032;  ///< the most bytes that one deflated byte can become

struct Entry {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = stored;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t header_at = 0;
};

[[noreturn]] void refuse_archive(const std::string& why) {
  throw Error(why);
}

/// Reads numbers and bytes of an archive. Refuses to read past its end.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path) : stream_(path, std::ios::binary) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) refuse_archive("there is no such file");
    if (!std::filesystem::is_regular_file(status)) refuse_archive("it is not a regular file");
    size_ = std::filesystem::file_size(path, error);
    if (error) refuse_archive(error.message());
    if (!stream_) refuse_archive("it cannot be opened (permissions?)");
  }

  std::uint64_t size() const { return size_; }

  std::vector<std::byte> read(std::uint64_t at, std::uint64_t count) {
    if (count > size_ || at > size_ - count)
      refuse_archive("it is truncated or damaged: a record lies beyond its end");
    std::vector<std::byte> bytes(count);
    stream_.seekg(static_cast<std::streamoff>(at));
    stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
    if (!stream_) refuse_archive("reading it failed");
    return bytes;
  }

 private:
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

/// Returns the number of `width` bytes at `at`, which must be inside `bytes`.
std::uint32_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<std::uint32_t>(bytes[at + i]);
  return value;
}

std::uint16_t short_at(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(number(bytes, at, 2));
}

std::uint32_t long_at(std::span<const std::byte> bytes, std::size_t at) {
  return number(bytes, at, 4);
}

/// Returns the end record, which a comment may follow.
std::vector<std::byte> end_record(Archive& archive) {
  const std::uint64_t count = std::min<std::uint64_t>(archive.size(), end_bytes + longest_comment);
  const std::vector<std::byte> tail = archive.read(archive.size() - count, count);
  for (std::size_t at = tail.size(); at-- > 0;) {
    if (tail.size() - at < end_bytes || long_at(tail, at) != end_signature) continue;
    if (tail.size() - at != end_bytes + short_at(std::span(tail).subspan(at), 20)) continue;
    return {tail.begin() + static_cast<std::ptrdiff_t>(at), tail.end()};
  }
  refuse_archive("it is not a .npz archive, or it is truncated: a zip archive's end record is missing");
}

Entry entry_of(std::span<const std::byte> record) {
  Entry entry;
  entry.flags = short_at(record, 8);
  entry.method = short_at(record, 10);
  entry.crc = long_at(record, 16);
  entry.packed_bytes = long_at(record, 20);
  entry.bytes = long_at(record, 24);
  entry.header_at = long_at(record, 42);
  if (std::max({entry.packed_bytes, entry.bytes, entry.header_at}) == beyond_32_bits)
    refuse_archive("it has members of 4 GiB or more (zip64), which are not supported");
  return entry;
}

std::vector<Entry> read_directory(Archive& archive) {
  const std::vector<std::byte> end = end_record(archive);
  const std::uint16_t count = short_at(end, 10);
  const std::uint32_t bytes = long_at(end, 12), begin = long_at(end, 16);
  if (count == std::numeric_limits<std::uint16_t>::max() || begin == beyond_32_bits)
    refuse_archive("it is 4 GiB or larger (zip64), which is not supported");
  const std::vector<std::byte> directory = archive.read(begin, bytes);
  std::vector<Entry> entries;
  std::span<const std::byte> rest(directory);
  for (std::uint16_t i = 0; i < count; ++i) {
    if (rest.size() < entry_bytes || long_at(rest, 0) != entry_signature)
      refuse_archive("it is damaged: an entry of its directory is missing");
    const std::size_t name = short_at(rest, 28);
    const std::size_t whole = entry_bytes + name + short_at(rest, 30) + short_at(rest, 32);
    if (whole > rest.size()) refuse_archive("it is damaged: an entry of its directory is cut off");
    Entry entry = entry_of(rest);
    entry.name.assign(reinterpret_cast<const char*>(rest.data()) + entry_bytes, name);
    entries.push_back(std::move(entry));
    rest = rest.subspan(whole);
  }
  return entries;
}

struct InflateEnd {
  z_stream* stream;
  ~InflateEnd() { inflateEnd(stream); }
};

std::vector<std::byte> inflated(const std::vector<std::byte>& packed, std::uint64_t bytes) {
  if (bytes / most_deflation > packed.size()) refuse_archive("it claims more data than it can hold");
  std::vector<std::byte> result(bytes);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) refuse_archive("it cannot be inflated: zlib has no memory");
  const InflateEnd end{&stream};
  // The sizes fit because an archive's numbers have 32 bits.
  stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
  if (!whole || stream.avail_out != 0 || stream.avail_in != 0)
    refuse_archive("its deflated data are damaged");
  return result;
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::byte> read_data(Archive& archive, const Entry& entry) {
  if ((entry.flags & 1) != 0) refuse_archive("it is encrypted");
  if (entry.method != stored && entry.method != deflated)
    refuse_archive(fmt::format("it is compressed by method {}; save it with numpy.savez", entry.method));
  const std::vector<std::byte> header = archive.read(entry.header_at, local_bytes);
  if (long_at(header, 0) != local_signature) refuse_archive("it is damaged: its header is missing");
  const std::uint64_t data_at = entry.header_at + local_bytes + short_at(header, 26) + short_at(header, 28);
  std::vector<std::byte> data = archive.read(data_at, entry.packed_bytes);
  if (entry.method == deflated) {
    data = inflated(data, entry.bytes);
  } else if (entry.bytes != entry.packed_bytes) {
    refuse_archive("its sizes contradict each other");
  }
  if (checksum(data) != entry.crc) refuse_archive("its checksum (CRC) does not match its data");
  return data;
}

std::vector<std::byte> read_member(Archive& archive, const Entry& entry) try {
  return read_data(archive, entry);
} catch (const Error& error) {
  throw Error(fmt::format("{}: {}", entry.name, error.what()));
}

Entry find_member(Archive& archive, std::string_view member) {
  const std::vector<Entry> entries = read_directory(archive);
  const auto named = [&](const std::string& name) { return std::ranges::find(entries, name, &Entry::name); };
  auto found = named(std::string(member));
  if (found == entries.end()) found = named(std::string(member) + ".npy");
  if (found != entries.end()) return *found;
  constexpr std::size_t longest_list = 400;
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(printable(entry.name));
  refuse_archive(fmt::format("it has no member '{}'; its members are: {}", member,
                             shortened(fmt::format("{}", fmt::join(names, ", ")), longest_list)));
}

/// Runs `body` on the archive and adds the archive's name to what it throws.
template <class Body>
auto with_archive(const std::filesystem::path& path, const Body& body) try {
  Archive archive(path);
  return body(archive);
} catch (const Error& error) {
  throw Error(fmt::format("reading {}: {}", path.string(), error.what()));
}

}  // namespace

NpzMembers read_npz(const std::filesystem::path& archive) {
  return with_archive(archive, [](Archive& opened) {
    NpzMembers members;
    for (const Entry& entry : read_directory(opened)) {
      if (!members.emplace(entry.name, read_member(opened, entry)).second)
        refuse_archive(fmt::format("it has two members of the name {}", entry.name));
    }
    return members;
  });
}

std::uint64_t npz_member_bytes(const std::filesystem::path& archive, std::string_view member) {
  return with_archive(archive, [&](Archive& opened) { return find_member(opened, member).bytes; });
}

std::vector<std::byte> read_npz_member(const std::filesystem::path& archive, std::string_view member) {
  return with_archive(archive,
                      [&](Archive& opened) { return read_member(opened, find_member(opened, member)); });
}

std::string to_string(const ArrayFile& file) {
  return file.member.empty() ? file.path : file.path + "[" + file.member + "]";
}

ArrayOutline outline_of_array(const ArrayFile& file) {
  if (file.member.empty()) return {.header = read_npy_header(file.path)};
  return {.bytes = npz_member_bytes(file.path, file.member)};
}

HostTensor read_array(const ArrayFile& file) {
  if (file.member.empty()) return read_npy(file.path);
  return parse_npy(read_npz_member(file.path, file.member), to_string(file));
}

}  // namespace assay
