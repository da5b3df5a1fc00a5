#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace assay {

/// A value that copies share until one of them is edited, so that a copy costs a pointer. A
/// default-constructed one is T{} and allocates nothing.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}

  const T& operator*() const { return value_ ? *value_ : initial(); }
  const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }

  /// For a T that is a container.
  auto begin() const { return (**this).begin(); }
  auto end() const { return (**this).end(); }
  decltype(auto) operator[](std::size_t index) const { return (**this)[index]; }

  /// Returns this copy's own value to be changed. References obtained earlier may still refer to the shared
  /// value.
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
