#include "harness/report/journal/journal_text.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <zstd.h>

namespace assay {
namespace {

constexpr std::string_view zstd_magic = "\x28\xB5\x2F\xFD";
constexpr int compression_level = 19;

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
  explicit Decompressor(const std::filesystem::path& path) : path_(path) {}

  void add(std::string_view bytes, const PieceAction& take) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    bool filled = false;  // the decoder may hold more output
    while (input.pos < input.size || filled) {
      ZSTD_outBuffer output{chunk_.data(), chunk_.size(), 0};
      wanted_ = ZSTD_decompressStream(context_.get(), &output, &input);
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

/// Splits text into lines, and numbers the lines that it passes on.
class Lines {
 public:
  Lines(const std::filesystem::path& path, const PieceAction& action) : path_(path), action_(action) {}

  /// Adds text and passes on the lines that are complete.
  void add(std::string_view text) {
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      if (begun_.empty()) {
        hand_on(text.substr(0, end));
      } else {
        std::string line;
        line.swap(begun_);
        hand_on(line.append(text.substr(0, end)));
      }
      text.remove_prefix(end + 1);
    }
    begun_ += text;
  }
  /// Whether the last line has no end, because its write was cut off.
  bool is_cut_off() const { return !begun_.empty(); }

 private:
  void hand_on(std::string_view line) {
    ++number_;
    try {
      action_(line);
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", path_.string(), number_, error.what()));
    }
  }

  const std::filesystem::path& path_;
  const PieceAction& action_;
  std::string begun_;  ///< the start of a line whose end is in a later piece
  std::size_t number_ = 0;
};

}  // namespace

void for_each_piece_of_journal(const std::filesystem::path& path, const PieceAction& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_file_error("read the journal", path, errno);
  std::array<char, 1 << 16> chunk{};
  std::optional<Decompressor> decompressor;
  bool is_first = true;
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    const std::string_view bytes(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (std::exchange(is_first, false) && bytes.starts_with(zstd_magic)) decompressor.emplace(path);
    decompressor ? decompressor->add(bytes, take) : take(bytes);
  }
  if (file.bad()) throw_file_error("read the journal", path, EIO);
  if (decompressor) decompressor->end();
}

std::string journal_text(const std::filesystem::path& path) {
  std::string text;
  for_each_piece_of_journal(path, [&](std::string_view piece) { text += piece; });
  return text;
}

bool for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line)>& action) {
  Lines lines(path, action);
  for_each_piece_of_journal(path, [&](std::string_view piece) { lines.add(piece); });
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

}  // namespace assay
