#include "harness/report/journal/journal_text.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <zstd.h>
#include <zstd_errors.h>

namespace assay {

namespace {

constexpr std::string_view zstd_magic = "\x28\xB5\x2F\xFD";
constexpr int compression_level = 19;
/// Logarithm of the largest window in bytes that is decompressed: 128 MiB, as all levels of zstd need at
/// most.
constexpr int most_window_log = 27;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

[[noreturn]] void throw_damaged(const std::filesystem::path& path, std::string_view why) {
  throw Error(fmt::format("reading the journal {}: decompressing it with zstd: {}", path.string(), why));
}

/// Decompresses its input piece by piece.
class Decompressor {
 public:
  explicit Decompressor(const std::filesystem::path& path) : path_(path) {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, most_window_log);
  }

  void add(std::string_view bytes, const PieceAction& take) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    bool filled = false;  // the decoder may hold more output
    while (input.pos < input.size || filled) {
      ZSTD_outBuffer output{chunk_.data(), chunk_.size(), 0};
      wanted_ = ZSTD_decompressStream(context_.get(), &output, &input);
      if (ZSTD_getErrorCode(wanted_) == ZSTD_error_frameParameter_windowTooLarge) {
        throw_damaged(path_, "it needs a window of more than 128 MiB; compress it anew without --long");
      }
      if (ZSTD_isError(wanted_) != 0) throw_damaged(path_, ZSTD_getErrorName(wanted_));
      take({chunk_.data(), output.pos});
      filled = output.pos == output.size && wanted_ != 0;
    }
  }
  void end() const {
    if (wanted_ != 0) throw_damaged(path_, "the file ends too early");
  }

 private:
  const std::filesystem::path& path_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_{ZSTD_createDCtx()};
  std::string chunk_ = std::string(ZSTD_DStreamOutSize(), '\0');
  std::size_t wanted_ = 1;  ///< 0: the frame is complete
};

std::string size_words(std::uint64_t bytes) {
  constexpr std::uint64_t mib = 1 << 20;
  if (bytes >= 1024 * mib && bytes % (1024 * mib) == 0) return fmt::format("{} GiB", bytes / (1024 * mib));
  return bytes >= mib && bytes % mib == 0 ? fmt::format("{} MiB", bytes / mib)
                                          : fmt::format("{} bytes", bytes);
}

/// Counts the text of a journal, and says when it is too much.
class TextLimit {
 public:
  explicit TextLimit(const JournalLimits& limits) : limits_(limits) {}

  void add_compressed(std::uint64_t bytes) { compressed_ += bytes; }
  /// Returns why the text is too long, for a sentence; empty: it is not.
  std::string add_text(std::uint64_t bytes) {
    text_ += bytes;
    if (text_ > limits_.text)
      return fmt::format("its text is longer than {}, the most that is read", size_words(limits_.text));
    if (compressed_ == 0 || text_ <= limits_.line + limits_.ratio * compressed_) return "";
    return fmt::format(
        "{} of compressed data hold more than {} of text, over {} times as much, which no run writes",
        size_words(compressed_), size_words(text_ - bytes), limits_.ratio);
  }

 private:
  const JournalLimits& limits_;
  std::uint64_t compressed_ = 0;  ///< bytes that were read so far; 0: the text is plain
  std::uint64_t text_ = 0;
};

using TakeTooMuch = std::function<void(const std::string& why)>;

/// Calls `take` with each piece of a journal's text, and `too_much`, which throws, if it exceeds its limits.
void for_each_piece(const std::filesystem::path& path, const JournalLimits& limits, const PieceAction& take,
                    const TakeTooMuch& too_much) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_file_error("read the journal", path, errno);
  std::array<char, 1 << 16> chunk{};
  std::optional<Decompressor> decompressor;
  TextLimit limit(limits);
  const PieceAction counted = [&](std::string_view piece) {
    if (const std::string why = limit.add_text(piece.size()); !why.empty()) too_much(why);
    take(piece);
  };
  bool is_first = true;
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    const std::string_view bytes(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (std::exchange(is_first, false) && bytes.starts_with(zstd_magic)) decompressor.emplace(path);
    if (decompressor) limit.add_compressed(bytes.size());
    decompressor ? decompressor->add(bytes, counted) : counted(bytes);
  }
  if (file.bad()) throw_file_error("read the journal", path, EIO);
  if (decompressor) decompressor->end();
}

/// Splits text into lines, and numbers the lines that it passes on.
class Lines {
 public:
  Lines(const std::filesystem::path& path, const LineAction& action, const LongLineAction& too_long,
        std::size_t longest)
      : path_(path), action_(action), too_long_(too_long), longest_(longest) {}

  /// Adds text and passes on the lines that are complete.
  void add(std::string_view text) {
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      if (begun_.empty() && !is_too_long_) {
        hand_on(text.substr(0, end));
      } else {
        collect(text.substr(0, end));
        const std::string line = std::exchange(begun_, {});
        hand_on(line);
      }
      text.remove_prefix(end + 1);
    }
    collect(text);
  }
  /// Whether the last line has no end, because its write was cut off.
  bool is_cut_off() const { return !begun_.empty() || is_too_long_; }

  /// Throws an Error about the line that is being read.
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(fmt::format("{}:{}: {}", path_.string(), number_ + 1, why));
  }

 private:
  /// Adds to the line that has begun, unless that is too long.
  void collect(std::string_view text) {
    if (!is_too_long_ && text.size() <= longest_ - begun_.size()) {
      begun_ += text;
      return;
    }
    if (!too_long_) refuse(why_too_long());
    is_too_long_ = true;
    begun_ = {};
  }

  void hand_on(std::string_view line) try {
    if (std::exchange(is_too_long_, false) || line.size() > longest_) {
      if (!too_long_) throw Error(why_too_long());
      too_long_(why_too_long());
    } else {
      action_(line);
    }
    ++number_;
  } catch (const Error& error) {
    refuse(error.what());
  }

  std::string why_too_long() const {
    return fmt::format("this line is longer than {}, the most that a line of a journal may have",
                       size_words(longest_));
  }

  const std::filesystem::path& path_;
  const LineAction& action_;
  const LongLineAction& too_long_;
  const std::size_t longest_;
  std::string begun_;         ///< the start of a line whose end is in a later piece
  bool is_too_long_ = false;  ///< whether that line is, and is passed over up to its end
  std::size_t number_ = 0;    ///< of the lines that were passed on
};

}  // namespace

void for_each_piece_of_journal(const std::filesystem::path& path, const PieceAction& take,
                               const JournalLimits& limits) {
  for_each_piece(path, limits, take, [&](const std::string& why) {
    throw Error("reading the journal " + path.string() + ": " + why);
  });
}

std::string journal_text(const std::filesystem::path& path, const JournalLimits& limits) {
  std::string text;
  for_each_piece_of_journal(
      path, [&](std::string_view piece) { text += piece; }, limits);
  return text;
}

bool for_each_line(const std::filesystem::path& path, const LineAction& action,
                   const LongLineAction& too_long, const JournalLimits& limits) {
  Lines lines(path, action, too_long, limits.line);
  for_each_piece(
      path, limits, [&](std::string_view piece) { lines.add(piece); },
      [&](const std::string& why) { lines.refuse(why); });
  return lines.is_cut_off();
}

std::string compressed(std::string_view text) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, compression_level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), bytes.data(), bytes.size(), text.data(), text.size());
  if (ZSTD_isError(size) != 0)
    throw Error(fmt::format("compressing a journal with zstd: {}", ZSTD_getErrorName(size)));
  bytes.resize(size);
  return bytes;
}

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
