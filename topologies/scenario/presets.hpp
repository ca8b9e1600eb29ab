#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/field_value.hpp"
#include "sim/config/fields.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

class FileReader;

/// What the figures of a file of presets come from, by the short names that presets use: "what (where)".
using Sources = std::map<std::string, std::string>;

void read_sources(Fields& fields, Sources& sources);

/// Where the figures of a preset come from.
struct Provenance {
  std::map<std::string, std::string> from;  ///< figure -> "what (where)"
  std::vector<std::string> unverified;      ///< figures without a public source
  std::string note;
};

/// What headers leave of a line rate.
enum class Framing : std::uint8_t { none, infiniband, roce };

/// Payload / all bytes on the wire, with packets of 4096 bytes of payload:
///  - infiniband: 4096 / 4122 (LRH 8, BTH 12, ICRC 4, VCRC 2); reliable connection, the 16 bytes of the RETH are in
///    the first packet of a message only;
///  - roce: 4096 / 4178 (preamble and gap 20, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4).
/// Line rates (200 Gb/s of HDR) are what is left after the line code.
Ratio payload_share(Framing protocol);

struct LinkPreset {
  LinkKind kind = LinkKind::pcie;
  LinkSpec spec;
  Provenance provenance;
};
struct GpuPreset {
  Bytes memory;
  Bandwidth memory_bandwidth;           ///< reading and writing together
  std::map<std::string, Ratio> tflops;  ///< dense, by type: "bf16"
  std::string nvlink;                   ///< "": has none
  std::uint32_t nvlinks = 0;
  std::string pcie;
  std::optional<Ratio> compute_capability;  ///< of GPUs from NVIDIA: 9.0
  std::string architecture;                 ///< of GPUs from AMD: "gfx942"
  std::uint32_t power_w = 0;                ///< watts; 0: not known
  std::uint32_t idle_w = 0;                 ///< watts while nothing runs on it; 0: not known
  std::vector<Ratio> rent_usd_per_hour;     ///< of one, from the cheapest offer to the dearest; empty: not known
  std::uint32_t multiprocessors = 0;        ///< blocks of a kernel that run at once, one on each; 0: not known
  bool gpu_direct = true;                   ///< NICs may read and write its memory
  bool peer_access = true;                  ///< other GPUs may over PCIe
  Provenance provenance;
};
/// A compute capability as nodes keep it: 90 of 9.0.
std::uint32_t in_tenths(Ratio capability);
/// What the preset says of a node's identity.
NodeIdentity identity_of(const GpuPreset& gpu);

struct NicPreset {
  Bandwidth rate;
  Framing protocol = Framing::none;
  Time latency;
  std::string pcie;
  Provenance provenance;
};
struct SwitchPreset {
  Bandwidth rate;  ///< of one port
  std::uint32_t radix = 0;
  Time latency;
  Framing protocol = Framing::none;
  bool hashes = false;  ///< flows over equal paths, as Ethernet switches do unless told otherwise
  Provenance provenance;
};
struct NodePreset {
  NodeText node;
  Provenance provenance;
};

/// Hardware by name.
struct Presets {
  std::map<std::string, LinkPreset> links;
  std::map<std::string, GpuPreset> gpus;
  std::map<std::string, NicPreset> nics;
  std::map<std::string, SwitchPreset> switches;
  std::map<std::string, NodePreset> nodes;
};

/// What links.json, gpus.json, nics.json, switches.json and nodes.json of a directory hold. Read once by a process, and
/// again where one of them has changed. Throws FileError when one cannot be read, ScenarioError with all that is wrong
/// in them. Thread-safe.
std::shared_ptr<const Presets> load_presets(const FileReader& files);

/// "unknown-preset", with the nearest of `names`.
Problem unknown_preset(std::string_view what, const std::string& name, const std::vector<std::string>& names,
                       const SourceLocation& place);

/// The preset of this name; nullptr, and a problem with the nearest name, when there is none.
template <class Preset>
const Preset* find_preset(const std::map<std::string, Preset>& presets, std::string_view what, const std::string& name,
                          const SourceLocation& place, Problems& problems) {
  const auto found = presets.find(name);
  if (found != presets.end()) { return &found->second; }
  std::vector<std::string> names;
  for (const auto& [known, preset] : presets) { names.push_back(known); }
  problems.add(unknown_preset(what, name, names, place));
  return nullptr;
}

}  // namespace athanor
