#pragma once

#include <filesystem>

namespace assay {

/// Replaces the compressed journal of a folder, if there is one, by its text, which can be continued: the
/// text is complete and on the disk before the compressed file is removed. If there is a plain journal as
/// well that begins with that text, as a kill between these two steps leaves it, only the compressed one is
/// removed. Throws Error(Usage) if the two differ, for then nobody knows which one is the run's, and as
/// journal_text() does for damaged data.
void unpack_journal(const std::filesystem::path& folder);

}  // namespace assay
