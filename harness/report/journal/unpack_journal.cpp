#include "harness/report/journal/unpack_journal.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/report/journal/journal_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <ostream>
#include <system_error>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

void write_text_of(const fs::path& compressed, const fs::path& plain) {
  replace_file(plain, [&](std::ostream& out) {
    for_each_piece_of_journal(compressed, [&](std::string_view piece) {
      out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    });
  });
  const FileDescriptor file(::open(plain.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) throw_file_error("sync the journal", plain, errno);
}

}  // namespace

void unpack_journal(const fs::path& folder) {
  const fs::path compressed = folder / compressed_journal_name;
  const fs::path plain = folder / journal_name;
  std::error_code error;
  if (!fs::is_regular_file(compressed, error)) return;
  if (!fs::exists(fs::symlink_status(plain, error))) {
    write_text_of(compressed, plain);
  } else if (!journal_text(plain).starts_with(journal_text(compressed))) {
    throw Error(fmt::format(
        "continuing the journal in {}: it has a {} and a {}, which are not the same run; move the "
        "one away that is not to be continued",
        folder.string(), journal_name, compressed_journal_name));
  }
  if (!fs::remove(compressed, error) && error)
    throw_file_error("remove the compressed journal", compressed, error.value());
}

}  // namespace assay
