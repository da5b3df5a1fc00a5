#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace assay {

/// The file names of a journal: as a run writes it, and compressed with zstd as it is published.
inline constexpr const char* journal_name = "journal.jsonl";
inline constexpr const char* compressed_journal_name = "journal.jsonl.zst";

/// How much text of a journal is read. A few KB of compressed data can stand for any amount of text, which
/// would take all memory and time. The longest line that a run writes has 8 MiB.
struct JournalLimits {
  std::size_t line = std::size_t{64} << 20;      ///< bytes of a line
  std::uint64_t text = std::uint64_t{16} << 30;  ///< bytes of all lines
  /// Bytes of text per byte of compressed data, beyond the length of a line. Real journals have about 12.
  std::uint64_t ratio = 1000;
};

/// The whole text of a journal. A file that begins as zstd files do is decompressed, whatever its name.
/// Throws Error that names the file: Infrastructure if the system cannot read it, a plain Error if the
/// compressed data is damaged or the text exceeds a limit.
std::string journal_text(const std::filesystem::path& path, const JournalLimits& limits = {});

using LineAction = std::function<void(std::string_view line)>;
/// Is told why a line is too long to be read.
using LongLineAction = std::function<void(const std::string& why)>;

using PieceAction = std::function<void(std::string_view piece)>;

/// Calls `take` with each piece of that text, of which only one is in memory at a time. Throws likewise.
void for_each_piece_of_journal(const std::filesystem::path& path, const PieceAction& take,
                               const JournalLimits& limits = {});

/// Calls `action` with each complete line of the file's text, without its line end; an Error that it throws
/// is prefixed with file:line. Returns whether the last line was cut off: it has no end, and is left out.
/// Only one line is in memory at a time: the journal of a large run is as large as its whole report in
/// memory. A line that is too long goes to `too_long`; without that it is an Error, as is too much text: both
/// name file:line and the limit.
bool for_each_line(const std::filesystem::path& path, const LineAction& action,
                   const LongLineAction& too_long = {}, const JournalLimits& limits = {});

/// Compresses the text with zstd, as one frame with a checksum.
std::string compressed(std::string_view text);

/// Replaces the compressed journal of a folder, if there is one, by its text, which can be continued: the
/// text is complete and on the disk before the compressed file is removed. If there is a plain journal as
/// well that begins with that text, as a kill between these two steps leaves it, only the compressed one is
/// removed. Throws Error(Usage) if the two differ, for then nobody knows which one is the run's, and as
/// journal_text() does for damaged data.
void unpack_journal(const std::filesystem::path& folder);

}  // namespace assay
