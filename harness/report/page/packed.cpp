#include "harness/report/page/packed.h"

#include "harness/base/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <zlib.h>

namespace assay {
namespace {

// A higher level would take twice as long and save a tenth of the size.
constexpr int level = 4;

std::string deflated(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), level);
  if (code != Z_OK) {
    throw Error("compressing the data of a page: zlib returned error " + std::to_string(code),
                ExitCode::Infrastructure);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string packed(std::string_view text) {
  return base64(deflated(text));
}

}  // namespace assay
