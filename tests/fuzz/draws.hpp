#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/random.hpp"

namespace athanor::fuzz {

using Json = nlohmann::ordered_json;

/// What parts of random scenarios are drawn with. Every rate is written as "<n>Gb/s", every time as "<n>ns" and every
/// size as "<n>B", so that others can be made from it.
class Draws {
 public:
  explicit Draws(RandomStream& random) : random_(random) {}

  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(random_.below(list.size())));
  }
  std::string one_of(std::initializer_list<const char*> list) { return one_of<const char*>(list); }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  unsigned between(unsigned least, unsigned most) {
    return least + static_cast<unsigned>(random_.below(most - least + 1));
  }

  static std::string rate_text(unsigned gigabits) { return fmt::format("{}Gb/s", gigabits); }
  static std::string time_text(unsigned nanoseconds) { return fmt::format("{}ns", nanoseconds); }
  std::string size() { return fmt::format("{}B", std::uint64_t{4} << random_.below(20)); }

  Json link() {
    Json json{{"rate", rate_text(one_of({8U, 16U, 40U, 80U, 200U, 400U}))},
              {"latency", time_text(2 * one_of({25U, 100U, 300U, 500U, 2000U}))}};
    if (one_in(4)) { json["efficiency"] = one_of({0.5, 0.75}); }
    return json;
  }

 private:
  RandomStream& random_;
};

}  // namespace athanor::fuzz
