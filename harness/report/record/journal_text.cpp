#include "harness/report/record/journal_text.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
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

std::string decompressed(const std::filesystem::path& path, std::string_view bytes) {
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  std::string text;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::size_t wanted = 1;  // 0: the frame is whole
  bool filled = false;     // there may be more of what was read
  while (input.pos < input.size || filled) {
    ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
    wanted = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(wanted) != 0) throw_damaged(path, ZSTD_getErrorName(wanted));
    text.append(chunk, 0, output.pos);
    filled = output.pos == output.size && wanted != 0;
  }
  if (wanted != 0) throw_damaged(path, "the file ends too early");
  return text;
}

}  // namespace

std::string journal_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_file_error("read the journal", path, errno);
  std::string bytes;
  std::array<char, 1 << 16> chunk{};
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0)
    bytes.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw_file_error("read the journal", path, EIO);
  return bytes.starts_with(zstd_magic) ? decompressed(path, bytes) : bytes;
}

bool for_each_line(const std::filesystem::path& path, std::string_view text,
                   const std::function<void(std::string_view line)>& action) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return true;  // the write did not come to its end
    try {
      action(text.substr(0, end));
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", path.string(), number, error.what()));
    }
    text.remove_prefix(end + 1);
  }
  return false;
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
