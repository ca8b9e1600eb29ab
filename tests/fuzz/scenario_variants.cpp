#include "tests/fuzz/scenario_variants.hpp"

namespace athanor::fuzz {

namespace {

bool is_rate(const std::string& text) { return text.ends_with("Gb/s"); }
bool is_time(const std::string& text) { return text.ends_with("ns"); }
bool is_size(const std::string& text) {
  return text.ends_with("B") && text.find_first_not_of("0123456789B") == std::string::npos;
}

std::uint64_t number_in(const std::string& text) { return std::stoull(text); }

/// Every text of a scenario through `change`.
template <class Change>
Json with_texts(const Json& value, const Change& change) {
  if (value.is_string()) { return change(value.get<std::string>()); }
  if (!value.is_structured()) { return value; }
  Json copy = value;
  for (auto& element : copy) { element = with_texts(element, change); }
  return copy;
}

std::string other_words(const std::string& text, RandomStream& random) {
  if (is_rate(text)) {
    const std::uint64_t gigabits = number_in(text);
    switch (random.below(3)) {
      case 0: return fmt::format("{}B/s", gigabits * 125'000'000);
      case 1: return fmt::format("{}.{:03}GB/s", gigabits / 8, gigabits % 8 * 125);
      default: return fmt::format("{} Mbit/s", gigabits * 1000);
    }
  }
  if (is_time(text)) {
    const std::uint64_t nanoseconds = number_in(text);
    return random.below(2) == 0 ? fmt::format("{}ps", nanoseconds * 1000)
                                : fmt::format("{}.{:03} us", nanoseconds / 1000, nanoseconds % 1000);
  }
  if (is_size(text)) {
    const std::uint64_t bytes = number_in(text);
    if (bytes % 1024 == 0) { return fmt::format("{}KiB", bytes / 1024); }
    return fmt::format("{}.{:03}kB", bytes / 1000, bytes % 1000);
  }
  return text;
}

/// Keys of all objects in another order.
Json shuffled(const Json& value, RandomStream& random) {
  if (!value.is_structured()) { return value; }
  Json copy = value.is_array() ? Json::array() : Json::object();
  if (value.is_array()) {
    for (const auto& element : value) { copy.push_back(shuffled(element, random)); }
    return copy;
  }
  std::vector<std::string> keys;
  for (const auto& [key, element] : value.items()) { keys.push_back(key); }
  random.shuffle(keys);
  for (const std::string& key : keys) { copy[key] = shuffled(value[key], random); }
  return copy;
}

}  // namespace

Json with_rates(const Json& scenario, unsigned factor) {
  return with_texts(scenario, [&](const std::string& text) {
    return is_rate(text) ? fmt::format("{}Gb/s", number_in(text) * factor) : text;
  });
}

Json with_latencies(const Json& scenario, unsigned numerator, unsigned denominator) {
  return with_texts(scenario, [&](const std::string& text) {
    return is_time(text) ? fmt::format("{}ns", number_in(text) * numerator / denominator) : text;
  });
}

Json respelled(const Json& scenario, RandomStream& random) {
  Json other = with_texts(scenario, [&](const std::string& text) { return other_words(text, random); });
  if (!other.contains("seed")) { other["seed"] = 1; }
  if (other.contains("collective") && !other["collective"].contains("in_place")) {
    other["collective"]["in_place"] = false;
  }
  if (other.contains("collective")) { other["collective"]["type"] = "float32"; }
  return shuffled(other, random);
}

}  // namespace athanor::fuzz
