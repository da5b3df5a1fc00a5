#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace assay {

/// The names of a journal in its folder: as a run writes it, and compressed with zstd as it is published.
inline constexpr const char* journal_name = "journal.jsonl";
inline constexpr const char* compressed_journal_name = "journal.jsonl.zst";

/// All of a journal's text. A file that begins as zstd files do is decompressed, whatever its name. Throws
/// Error that names the file: Infrastructure where the system cannot read it, else where what is compressed
/// is damaged.
std::string journal_text(const std::filesystem::path& path);

/// Calls `action` with each whole line, without its end; an Error that it throws gets file:line put before
/// it. Whether the last line was cut off: it has no end, and is left out.
bool for_each_line(const std::filesystem::path& path, std::string_view text,
                   const std::function<void(std::string_view line)>& action);

/// The same of the text that journal_text() gives, of which only the line is in memory: journals of large
/// runs are as large as all that is kept of them.
bool for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line)>& action);

/// The text compressed with zstd, as one frame with a checksum.
std::string compressed(std::string_view text);

}  // namespace assay
