#pragma once

#include <memory>

namespace athanor {

/// A value that few owners have, and that is copied with them: none takes no more than a pointer.
template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) { value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr; }
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_.get(); }
  T& emplace(const T& value) { return *(value_ = std::make_unique<T>(value)); }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace athanor
