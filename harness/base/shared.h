#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace assay {

/// A value that its copies share, so that they cost a pointer each, until one of them is edited. A default
/// one is T{} and costs nothing else.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}

  const T& operator*() const { return value_ ? *value_ : initial(); }
  const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }

  /// Of a container.
  auto begin() const { return (**this).begin(); }
  auto end() const { return (**this).end(); }
  decltype(auto) operator[](std::size_t index) const { return (**this)[index]; }

  /// The value of this copy alone, to be changed. References to the value before may be to the others' then.
  T& edit() {
    if (value_.use_count() != 1) value_ = std::make_shared<T>(**this);
    return *value_;
  }

  friend bool operator==(const Shared& a, const Shared& b) { return &*a == &*b || *a == *b; }

 private:
  static const T& initial() {
    static const T value{};
    return value;
  }

  std::shared_ptr<T> value_;
};

}  // namespace assay
