#include "tests/fuzz/random_scenario.hpp"

#include <array>
#include <initializer_list>

#include <fmt/format.h>

namespace athanor::fuzz {

namespace {

using Json = nlohmann::ordered_json;

class Generator {
 public:
  explicit Generator(RandomStream& random) : random_(random) {}

  Json make() {
    Json scenario;
    scenario["cluster"] = cluster();
    switch (random_.below(10)) {
      case 0: scenario["traffic"] = traffic(); break;
      case 1: scenario["parameter_server"] = parameter_server(); break;
      case 2: scenario["collective"] = jobs(); break;
      default: scenario["collective"] = collective(); break;
    }
    scenario["network"] = network();
    if (scenario.contains("collective") && !shared_by_jobs_ && random_.below(3) == 0) {
      scenario["profile"] = profile();
    }
    if (random_.below(3) == 0) { scenario["seed"] = 1 + random_.below(1000); }
    return scenario;
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(random_.below(list.size())));
  }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
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

  Json cluster() {
    Json json;
    switch (random_.below(11)) {
      case 0: return star();
      case 1:
      case 2: return fat_tree();
      case 3: json["fabric"] = {{"kind", "k_ary_n_tree"}, {"arity", 2}, {"levels", between(1, 3)}}; break;
      case 4: json["fabric"] = {{"kind", one_in(2) ? "torus" : "mesh"}, {"dimensions", sides()}}; break;
      case 5:
        json["fabric"] = {{"kind", "full_mesh"}, {"switches", between(2, 5)}, {"hosts_per_switch", between(1, 3)}};
        break;
      case 6:
        json["fabric"] = {{"kind", "hyperx"}, {"dimensions", sides()}, {"hosts_per_switch", between(1, 2)}};
        break;
      case 7:
        json["fabric"] = {
            {"kind", "dragonfly"}, {"hosts_per_router", between(1, 2)}, {"routers_per_group", 2}, {"global_cables", 1}};
        if (one_in(2)) { json["fabric"]["global_link"] = link(); }
        break;
      case 8:
        json["fabric"] = {{"kind", "dragonfly_plus"},
                          {"leaves_per_group", 2},
                          {"hosts_per_leaf", between(1, 2)},
                          {"groups", between(2, 3)}};
        break;
      case 9: json["fabric"] = {{"kind", "slim_fly"}, {"q", 3}, {"hosts_per_router", 1}}; break;
      default: return nodes();
    }
    kind_ = json["fabric"]["kind"];
    json["fabric"]["link"] = link();
    return json;
  }

  Json star() {
    kind_ = "star";
    return {{"nodes", between(2, 12)}, {"fabric", {{"kind", "star"}, {"link", link()}}}};
  }

  Json fat_tree() {
    kind_ = "fat_tree";
    const unsigned hosts = between(1, 4);
    Json fabric{{"kind", "fat_tree"}, {"hosts_per_leaf", hosts}, {"link", link()}};
    if (hosts > 1 && one_in(2)) { fabric["oversubscription"] = hosts; }
    if (one_in(3)) { fabric["uplink"] = fabric["link"]; }
    return {{"nodes", hosts * between(2, 4)}, {"fabric", std::move(fabric)}};
  }

  /// GPUs on an NVSwitch, each with a NIC.
  Json nodes() {
    const unsigned gpus = one_of({2U, 4U});
    kind_ = one_of({"star", "rail_optimized"});
    Json node{{"gpu", "A100-SXM-80GB"},
              {"gpus", gpus},
              {"scale_up", {{"kind", "nvswitch"}}},
              {"sockets", 1},
              {"pcie_link", "pcie4x16"},
              {"nic", "CX6-200GbE"},
              {"nics", gpus},
              {"pcie", Json::array()}};
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      node["pcie"].push_back({{"socket", 0}, {"gpus", {gpu}}, {"nics", {gpu}}, {"switch", one_in(2)}});
    }
    has_nodes_ = true;
    return {{"node", std::move(node)}, {"nodes", between(1, 3)}, {"fabric", {{"kind", kind_}, {"link", link()}}}};
  }

  Json sides() {
    Json list = Json::array();
    const unsigned count = between(1, 3);
    for (unsigned i = 0; i < count; ++i) { list.push_back(between(2, count == 3 ? 2 : 4)); }
    return list;
  }

  std::string collective_kind() {
    return one_of({"all_reduce", "all_reduce", "all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce",
                   "all_to_all", "gather", "scatter"});
  }

  Json sizes() {
    std::uint64_t bytes = 64U << random_.below(10);
    Json list = Json::array();
    for (unsigned i = 0; i < 3; ++i, bytes <<= between(1, 4)) { list.push_back(fmt::format("{}B", bytes)); }
    return list;
  }

  Json collective() {
    const std::string kind = collective_kind();
    Json json{{"kind", kind}, {"sizes", sizes()}, {"algorithm", "best"}};
    if (one_in(2)) { json["algorithm"] = algorithm(kind); }
    if (json["algorithm"] == "ring" && one_in(3)) { json["chunk"] = fmt::format("{}B", 4096U << random_.below(4)); }
    if (one_in(6)) { json["channels"] = between(1, 2); }
    if (one_in(6)) { json["in_place"] = true; }
    return json;
  }

  std::string algorithm(const std::string& kind) {
    if (kind == "all_reduce") {
      return one_of({"ring", "double_binary_tree", "recursive_doubling", "halving_doubling", "rabenseifner", "swing",
                     "binomial_tree", "direct_two_shot", "bidirectional_ring", "parameter_server_sharded"});
    }
    if (kind == "all_to_all") { return one_of({"pairwise", "direct", "bruck"}); }
    if (kind == "all_gather") { return one_of({"ring", "bruck", "direct", "pat"}); }
    if (kind == "reduce_scatter") { return one_of({"ring", "bruck", "direct", "pat"}); }
    if (kind == "broadcast") { return one_of({"binomial_tree", "ring", "scatter_all_gather", "double_binary_tree"}); }
    if (kind == "reduce") { return one_of({"binomial_tree", "ring", "reduce_scatter_gather"}); }
    return one_of({"binomial_tree", "linear"});
  }

  Json jobs() {
    Json json = collective();
    json["jobs"] = between(2, 3);
    json["placement"] = one_of({"blocks", "interleaved"});
    shared_by_jobs_ = true;
    return json;
  }

  Json traffic() {
    Json json{{"pattern", one_of({"incast", "permutation", "shift"})}, {"sizes", size()}};
    if (json["pattern"] == "shift") { json["by"] = 1; }
    return json;
  }

  Json parameter_server() {
    return {{"parameters", size()},
            {"servers", between(1, 2)},
            {"compute", time_text(2 * between(1, 50) * 1000)},
            {"warm_up", 1},
            {"steps", 2}};
  }

  Json network() {
    Json json{{"level", one_of({"flow", "flow", "flow", "flow", "ideal", "packet"})}};
    if (kind_ == "fat_tree" || kind_ == "k_ary_n_tree" || kind_ == "rail_optimized") {
      json["routing"] = one_of({"d_mod_k", "ecmp"});
    } else if (kind_ == "dragonfly" || kind_ == "dragonfly_plus" || kind_ == "slim_fly") {
      json["routing"] = one_of({"minimal", "valiant", "ugal"});
    } else if (kind_ == "hyperx" || kind_ == "full_mesh") {
      json["routing"] = one_of({"dimension_order", "valiant", "ugal"});
    }
    if (json["level"] == "packet" && one_in(2)) {
      json["transport"] = {{"payload", fmt::format("{}B", 1024U << random_.below(3))}, {"header", "64B"}};
    }
    return json;
  }

  Json profile() {
    Json protocol{{"name", "p"}, {"overhead", time_text(2 * between(0, 1000))}};
    protocol["network"] = {{"latency", time_text(2 * between(0, 2000))}};
    if (one_in(2)) { protocol["network"]["rate"] = rate_text(one_of({16U, 80U})); }
    if (has_nodes_) { protocol["node"] = {{"latency", time_text(2 * between(0, 500))}}; }
    if (one_in(3)) { protocol["chunk"] = "65536B"; }
    Json json{{"launch", time_text(2 * between(0, 3000))}, {"protocols", {protocol}}};
    if (one_in(3)) { json["reduce_rate"] = rate_text(400); }
    return json;
  }

  RandomStream& random_;
  std::string kind_;
  bool has_nodes_ = false;
  bool shared_by_jobs_ = false;
};

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

Json random_scenario(RandomStream& random) { return Generator(random).make(); }

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
