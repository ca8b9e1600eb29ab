#include "sim/config/locator.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/json_value.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

/// Longer pointers are kept by a hash: keys of a megabyte over a list of a million values would fill any memory, and
/// who asks for one of them is told the place of what holds it.
constexpr std::size_t kLongestPointer = 1000;

/// Walks over valid JSON and notes where each value begins.
class Locator {
 public:
  explicit Locator(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) { at_ = kByteOrderMark.size(); }
  }

  Locations run() {
    skip_space();
    value(at_);
    return std::move(found_);
  }

 private:
  char now() const {
    require(at_ < text_.size(), "the text to locate values in is no JSON: it ends too early");
    return text_[at_];
  }

  void skip_to(std::string_view end) {
    at_ = std::min(text_.find(end, at_), text_.size());
    at_ = std::min(at_ + end.size(), text_.size());
  }

  void skip_space() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        skip_to("\n");
      } else if (text_.substr(at_, 2) == "/*") {
        skip_to("*/");
      } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view string() {
    const std::size_t begin = at_++;
    for (; now() != '"'; ++at_) {
      if (now() == '\\') { ++at_; }
    }
    ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void value(std::size_t key) {
    std::string pointer = pointer_.size() <= kLongestPointer
                              ? pointer_
                              : fmt::format("{}...{:016x}", std::string_view(pointer_).substr(0, 100), hash_);
    if (!found_.values.insert_or_assign(pointer, Offsets{at_, key}).second) {
      found_.repeated_keys.emplace_back(std::move(pointer), key);
    }
    switch (now()) {
      case '{': container('}'); break;
      case '[': container(']'); break;
      case '"': string(); break;
      default: at_ = std::min(text_.find_first_of(",]} \t\r\n/", at_), text_.size());
    }
  }

  void container(char end) {
    ++at_;
    skip_space();
    for (std::size_t index = 0; now() != end; ++index) {
      element(end == '}', index);
      skip_space();
      if (now() == ',') { ++at_; }
      skip_space();
    }
    ++at_;
  }

  void element(bool keyed, std::size_t index) {
    const std::size_t parent = pointer_.size();
    const std::uint64_t parent_hash = hash_;
    const std::size_t key = at_;
    if (keyed) {
      pointer_ += "/" + pointer_token(json_value_of(string()).value().string());
      skip_space();
      ++at_;  // the colon
      skip_space();
    } else {
      pointer_ += fmt::format("/{}", index);
    }
    hash_ = join_hash(parent_hash, hash_text(std::string_view(pointer_).substr(parent)));
    value(key);
    pointer_.resize(parent);
    hash_ = parent_hash;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string pointer_;
  std::uint64_t hash_ = 0;  ///< of the pointer
  Locations found_;
};

}  // namespace

Locations locate_values(std::string_view text) { return Locator(text).run(); }

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

LineColumn line_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(before.size() - line_begin) + 1};
}

}  // namespace athanor
