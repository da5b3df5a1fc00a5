#include "harness/base/byte_buffer.h"

#include "harness/base/parallel.h"

#include <utility>

namespace assay {

ByteBuffer::ByteBuffer(std::size_t size) : bytes_(new std::byte[size]), size_(size) {}

ByteBuffer::ByteBuffer(const ByteBuffer& other) : ByteBuffer(other.size_) {
  copy_bytes(*this, other);
}

ByteBuffer& ByteBuffer::operator=(const ByteBuffer& other) {
  if (this != &other) *this = ByteBuffer(other);
  return *this;
}

ByteBuffer::ByteBuffer(ByteBuffer&& other) noexcept
    : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}

ByteBuffer& ByteBuffer::operator=(ByteBuffer&& other) noexcept {
  bytes_ = std::move(other.bytes_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

}  // namespace assay
