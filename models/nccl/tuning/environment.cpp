#include "models/nccl/tuning/environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "models/nccl/tuning/environment_reader.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Effect = NcclNote::Effect;
using Environment = NcclEnvironment;

/// Most channels of a communicator (MAXCHANNELS): 64, and 32 before 2.24.
std::int64_t most_channels(NcclVersion version) { return version < NcclVersion{2, 24, 0} ? 32 : 64; }

std::uint32_t unsigned_of(std::int64_t number) { return static_cast<std::uint32_t>(number); }

/// -2 stands for "not set" throughout NCCL.
constexpr std::int64_t kUnset = -2;

void read_tree_threshold(const NcclVariable& variable, std::int64_t number, NcclVersion version) {
  if (version >= NcclVersion{2, 5, 0}) {
    variable.note(Effect::ignored, "NCCL estimates times from 2.5 on and does not read it; write NCCL_ALGO");
    return;
  }
  variable.environment.tree_threshold = Bytes{std::max<std::int64_t>(number, 0)};
}

void read_least_channels(const NcclVariable& variable, std::int64_t number, NcclVersion version) {
  if (number > most_channels(version)) {
    variable.note(Effect::changed, fmt::format("{} is more than {} channels; NCCL warns and takes {}", number,
                                               most_channels(version), most_channels(version)));
  } else if (number < 0) {
    variable.note(Effect::changed, fmt::format("{} is read as no minimum", number));
  }
  variable.environment.least_channels = unsigned_of(std::clamp<std::int64_t>(number, 0, most_channels(version)));
}

void read_most_channels(const NcclVariable& variable, std::int64_t number, NcclVersion version) {
  if (number < 1) { variable.note(Effect::changed, fmt::format("{} is below 1; NCCL warns and takes 1", number)); }
  variable.environment.most_channels = unsigned_of(std::clamp<std::int64_t>(number, 1, most_channels(version)));
}

std::optional<std::uint32_t> blocks_of(const NcclVariable& variable, std::int64_t number, NcclVersion version) {
  if (number <= 0) {
    variable.note(Effect::ignored, fmt::format("{} is too low; NCCL leaves the number of blocks as it is", number));
    return {};
  }
  if (number > most_channels(version)) {
    variable.note(Effect::changed,
                  fmt::format("{} is more than NCCL's limit; it takes {}", number, most_channels(version)));
  }
  return unsigned_of(std::min(number, most_channels(version)));
}

/// Threads of a block: a multiple of 32 within limits, otherwise the nearer limit; the upper one for other multiples.
std::optional<std::uint32_t> threads_of(const NcclVariable& variable, std::int64_t number, std::int64_t least,
                                        std::int64_t most) {
  if (number <= 0) { return {}; }
  if (number % 32 != 0) {
    variable.note(Effect::changed, fmt::format("{} is no multiple of 32; NCCL takes {}", number, most));
    return unsigned_of(most);
  }
  if (number < least || number > most) {
    variable.note(Effect::changed,
                  fmt::format("{} is not within {} and {}; NCCL takes the nearer", number, least, most));
  }
  return unsigned_of(std::clamp(number, least, most));
}

/// A buffer of 8 steps; NCCL does not check it. Below `least` a step holds no line of the protocol.
std::optional<Bytes> buffer_size(const NcclVariable& variable, std::int64_t number, std::int64_t least) {
  if (number < least || number > INT32_MAX) {
    variable.note(Effect::refused, fmt::format("a buffer of {} bytes cannot work, which NCCL does not check: it has 8 "
                                               "steps and needs from {} to 2147483647 bytes",
                                               number, least));
    return {};
  }
  return Bytes{number};
}

/// A chunk in bytes, of at least one grain of 512.
std::optional<Bytes> chunk_size(const NcclVariable& variable, std::int64_t number) {
  if (number >= 512 && number <= INT32_MAX) { return Bytes{number}; }
  variable.note(
      Effect::refused,
      fmt::format("a chunk of {} bytes cannot work, which NCCL does not check: it needs from 512 to 2147483647",
                  number));
  return {};
}

std::uint32_t at_least_one(const NcclVariable& variable, std::int64_t number) {
  if (number < 1) {
    variable.note(Effect::changed, fmt::format("{} is taken as 1 here; NCCL does not check it", number));
  }
  return unsigned_of(std::clamp<std::int64_t>(number, 1, INT32_MAX));
}

void read_cross_nic(const NcclVariable& variable, std::int64_t number) {
  if (number < 0 || number > 2) {
    variable.note(Effect::changed,
                  fmt::format("{} is none of 0, 1 and 2; NCCL does not check it and behaves as with 0", number));
  }
  variable.environment.cross_nic = number == 1 || number == 2 ? unsigned_of(number) : 0;
}

/// Other numbers leave the NIC as it is, as 0 does.
void read_peer_pxn(const NcclVariable& variable, std::int64_t number) {
  if (number < 0 || number > 2) {
    variable.note(Effect::changed, fmt::format("{} is none of 0, 1 and 2; NCCL behaves as with 0", number));
  }
  variable.environment.peer_pxn = number == 1 || number == 2 ? unsigned_of(number) : 0;
}

/// NCCL_IB_MERGE_NICS.
void read_merge_nics(const NcclVariable& variable, std::int64_t number, NcclVersion version) {
  if (version < NcclVersion{2, 20, 0}) {
    variable.note(Effect::ignored, "NCCL merges the ports of a card from 2.20 on");
    return;
  }
  variable.environment.merge_ports = variable.environment.merge_ports && number != 0;
}

/// NCCL_NET_MERGE_LEVEL: how near NICs are that become one. Its own words, case and all; others leave it at PORT.
void read_merge_level(const NcclVariable& variable, NcclVersion version) {
  constexpr std::array<std::string_view, 8> kLevels{"LOC", "PORT", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"};
  if (version < NcclVersion{2, 24, 0}) {
    variable.note(Effect::ignored, "NCCL reads it from 2.24 on; before, NCCL_IB_MERGE_NICS=0 keeps ports apart");
  } else if (variable.text == "LOC") {
    variable.environment.merge_ports = false;
  } else if (std::find(kLevels.begin(), kLevels.end(), variable.text) == kLevels.end()) {
    variable.note(Effect::ignored, fmt::format("'{}' is none of {}; NCCL merges the ports of a card, as with PORT",
                                               variable.text, joined(kLevels, ", ")));
  } else if (variable.text != "PORT") {
    variable.note(Effect::not_modelled, "NICs of several cards are not merged here; write PORT or LOC");
  }
}

using Reader = void (*)(const NcclVariable&, std::int64_t, NcclVersion);

struct Entry {
  std::string_view name;
  Reader read;
};

constexpr std::size_t kSimple = static_cast<std::size_t>(NcclProtocol::simple);
constexpr std::size_t kLl = static_cast<std::size_t>(NcclProtocol::ll);
constexpr std::size_t kLl128 = static_cast<std::size_t>(NcclProtocol::ll128);

using V = const NcclVariable&;
constexpr auto kNumbers = std::to_array<Entry>({
    {"NCCL_ALLOC_P2P_NET_LL_BUFFERS", [](V v, std::int64_t n, NcclVersion) { v.environment.network_ll_buffers = n != 0; }},
    {"NCCL_BUFFSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.buffers[kSimple] = buffer_size(v, n, 4096); }},
    {"NCCL_COLLNET_ENABLE", [](V v, std::int64_t n, NcclVersion) { v.environment.collnet = n != 0; }},
    {"NCCL_COLLNET_NODE_THRESHOLD",
     [](V v, std::int64_t n, NcclVersion) {
       v.environment.collnet_nodes = unsigned_of(std::clamp<std::int64_t>(n, 0, INT32_MAX));
     }},
    {"NCCL_CROSS_NIC", [](V v, std::int64_t n, NcclVersion) { read_cross_nic(v, n); }},
    {"NCCL_IB_MERGE_NICS", read_merge_nics},
    {"NCCL_IB_QPS_PER_CONNECTION", [](V v, std::int64_t n, NcclVersion) { v.environment.queue_pairs = at_least_one(v, n); }},
    {"NCCL_LL128_BUFFSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.buffers[kLl128] = buffer_size(v, n, 16384); }},
    {"NCCL_LL128_C2C", [](V v, std::int64_t n, NcclVersion) { v.environment.ll128_over_c2c = n != 0; }},
    {"NCCL_LL128_NTHREADS",
     [](V v, std::int64_t n, NcclVersion) { v.environment.ll128_threads = threads_of(v, n, 160, 640); }},
    {"NCCL_LL_BUFFSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.buffers[kLl] = buffer_size(v, n, 256); }},
    {"NCCL_MAX_CTAS", [](V v, std::int64_t n, NcclVersion at) { v.environment.most_blocks = blocks_of(v, n, at); }},
    {"NCCL_MAX_NRINGS", read_most_channels},
    {"NCCL_MAX_NCHANNELS", read_most_channels},
    {"NCCL_MAX_P2P_NCHANNELS",
     [](V v, std::int64_t n, NcclVersion) { v.environment.most_peer_channels = at_least_one(v, n); }},
    {"NCCL_MIN_CTAS", [](V v, std::int64_t n, NcclVersion at) { v.environment.least_blocks = blocks_of(v, n, at); }},
    {"NCCL_MIN_NRINGS", read_least_channels},
    {"NCCL_MIN_NCHANNELS", read_least_channels},
    {"NCCL_MIN_P2P_NCHANNELS",
     [](V v, std::int64_t n, NcclVersion) { v.environment.least_peer_channels = at_least_one(v, n); }},
    {"NCCL_NCHANNELS_PER_NET_PEER",
     [](V v, std::int64_t n, NcclVersion) {
       if (n != -1) { v.environment.network_peer_channels = at_least_one(v, n); }
     }},
    {"NCCL_NET_OVERHEAD", [](V v, std::int64_t n, NcclVersion) { v.environment.network_overhead = static_cast<double>(n) / 1000; }},
    {"NCCL_NTHREADS", [](V v, std::int64_t n, NcclVersion) { v.environment.threads = threads_of(v, n, 64, 512); }},
    {"NCCL_NVLSTREE_MAX_CHUNKSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.nvls_tree_chunk = chunk_size(v, n); }},
    {"NCCL_NVLS_CHUNKSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.nvls_chunk = chunk_size(v, n); }},
    {"NCCL_NVLS_ENABLE", [](V v, std::int64_t n, NcclVersion) { v.environment.nvls = n != 0; }},
    {"NCCL_NVLS_NCHANNELS", [](V v, std::int64_t n, NcclVersion) { v.environment.nvls_channels = at_least_one(v, n); }},
    {"NCCL_P2P_LL_THRESHOLD",
     [](V v, std::int64_t n, NcclVersion) { v.environment.peer_ll_threshold = Bytes{std::max<std::int64_t>(n, 0)}; }},
    {"NCCL_P2P_NET_CHUNKSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.network_peer_chunk = chunk_size(v, n); }},
    {"NCCL_P2P_NVL_CHUNKSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.nvlink_peer_chunk = chunk_size(v, n); }},
    {"NCCL_P2P_PCI_CHUNKSIZE", [](V v, std::int64_t n, NcclVersion) { v.environment.pcie_peer_chunk = chunk_size(v, n); }},
    {"NCCL_PAT_ENABLE",
     [](V v, std::int64_t n, NcclVersion) {
       if (n != 2) { v.environment.pat = n != 0; }
     }},
    {"NCCL_P2P_PXN_LEVEL", [](V v, std::int64_t n, NcclVersion) { read_peer_pxn(v, n); }},
    {"NCCL_PXN_DISABLE", [](V v, std::int64_t n, NcclVersion) { v.environment.pxn = n == 0; }},
    {"NCCL_P2P_DISABLE", [](V v, std::int64_t n, NcclVersion) { v.environment.peer_access = n != 1; }},
    {"NCCL_SHM_DISABLE", [](V v, std::int64_t n, NcclVersion) { v.environment.shared_memory = n != 1; }},
    {"NCCL_TREE_THRESHOLD", read_tree_threshold},
});

bool read_number_variable(const NcclVariable& variable, NcclVersion version) {
  const auto* const entry =
      std::find_if(kNumbers.begin(), kNumbers.end(), [&](const Entry& each) { return each.name == variable.name; });
  if (entry == kNumbers.end()) { return false; }
  const auto number = nccl_number(variable);
  if (number && *number != kUnset) { entry->read(variable, *number, version); }
  return true;
}

void note_name(const NcclVariable& variable) {
  if (is_nccl_variable(variable.name)) {
    return variable.note(Effect::not_modelled, "NCCL reads it, but nothing here depends on it");
  }
  const std::string near = nearest_nccl_variable(variable.name);
  variable.note(Effect::unknown, fmt::format("is no variable of NCCL, which passes over it silently{}",
                                             near.empty() ? "" : "; did you mean " + near + "?"));
}

void read_variable(const NcclVariable& variable, NcclVersion version) {
  if (variable.name == "NCCL_ALGO") { return read_algorithms(variable, version); }
  if (variable.name == "NCCL_PROTO") { return read_protocols(variable, version); }
  if (variable.name == "NCCL_NET_MERGE_LEVEL") { return read_merge_level(variable, version); }
  if (variable.name == "NCCL_P2P_LEVEL") {
    variable.environment.peer_level = nccl_level(variable);
  } else if (variable.name == "NCCL_NET_GDR_LEVEL" || variable.name == "NCCL_IB_GDR_LEVEL") {
    variable.environment.direct_level = nccl_level(variable);
  } else if (!read_number_variable(variable, version)) {
    note_name(variable);
  }
}

/// The old names count only where the new ones are not set.
bool superseded(const std::string& name, const std::map<std::string, std::string>& variables) {
  return (name == "NCCL_MIN_NRINGS" && variables.contains("NCCL_MIN_NCHANNELS")) ||
         (name == "NCCL_MAX_NRINGS" && variables.contains("NCCL_MAX_NCHANNELS")) ||
         (name == "NCCL_IB_GDR_LEVEL" && variables.contains("NCCL_NET_GDR_LEVEL"));
}

void settle_blocks(Environment& environment) {
  if (!environment.least_blocks || !environment.most_blocks) { return; }
  if (*environment.least_blocks <= *environment.most_blocks) { return; }
  environment.notes.push_back({Effect::changed, "NCCL_MIN_CTAS",
                               fmt::format("{} is more than NCCL_MAX_CTAS; NCCL takes {} for both",
                                           *environment.least_blocks, *environment.most_blocks)});
  environment.least_blocks = environment.most_blocks;
}

}  // namespace

void NcclVariable::note(NcclNote::Effect effect, const std::string& what) const {
  environment.notes.push_back({effect, name, what});
}

NcclEnvironment nccl_environment(const std::map<std::string, std::string>& variables, NcclVersion version) {
  NcclEnvironment environment;
  environment.given = variables;
  for (const auto& [name, text] : variables) {
    if (!superseded(name, variables)) { read_variable({environment, name, text}, version); }
  }
  settle_blocks(environment);
  return environment;
}

}  // namespace athanor
