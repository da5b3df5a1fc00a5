#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace assay {

/// The file names of a journal: as a run writes it, and compressed with zstd as it is published.
inline constexpr const char* journal_name = "journal.jsonl";
inline constexpr const char* compressed_journal_name = "journal.jsonl.zst";

/// The whole text of a journal. A file that begins as zstd files do is decompressed, whatever its name.
/// Throws Error that names the file: Infrastructure if the system cannot read it, a plain Error if the
/// compressed data is damaged.
std::string journal_text(const std::filesystem::path& path);

using PieceAction = std::function<void(std::string_view piece)>;

/// Calls `take` with each piece of that text, of which only one is in memory at a time. Throws likewise.
void for_each_piece_of_journal(const std::filesystem::path& path, const PieceAction& take);

/// Calls `action` with each complete line of the file's text, without its line end; an Error that it throws
/// is prefixed with file:line. Returns whether the last line was cut off: it has no end, and is left out.
/// Only one line is in memory at a time: the journal of a large run is as large as its whole report in
/// memory.
bool for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line)>& action);

/// Compresses the text with zstd, as one frame with a checksum.
std::string compressed(std::string_view text);

}  // namespace assay
