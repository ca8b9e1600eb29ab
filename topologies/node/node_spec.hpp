#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/fabric/fabric.hpp"
#include "topologies/node/node_identity.hpp"

namespace athanor {

/// The inside of a node written out device by device, for machines that the keys of a regular node cannot say: nested
/// PCIe switches, links of different rates, several NVSwitches. GPUs come first, NICs last, as NodeTemplate numbers
/// them; a GPU's or NIC's number is its place among its kind.
struct NodeGraph {
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Link link;  ///< each direction; without what a NIC adds when it forwards
  };
  std::vector<VertexKind> devices;
  std::vector<Cable> cables;

  std::uint32_t count(VertexKind kind) const;
};

/// What is wrong with it, one sentence each: no GPU, too many devices, an order that is not GPUs first and NICs last,
/// switches of the network inside, cables that begin or end nowhere. Empty: nothing.
std::vector<std::string> faults(const NodeGraph& graph);

/// The devices of one half, with half of the CPUs (of the GPUs, where there is one CPU or none): every device belongs
/// to the CPU that is fewest PCIe, C2C and socket links away, the first of equals; NVSwitches stay outside.
std::vector<std::uint32_t> first_half(const NodeGraph& graph);

/// A bus or cable inside a node, or a network cable: the same both ways.
struct LinkSpec {
  Bandwidth rate;    ///< line rate, one direction
  Bandwidth usable;  ///< payload rate, at most `rate`
  Time latency;      ///< propagation, and the forwarding of the device that sends
};

/// All GPUs on one NVSwitch complex. NVLink traffic is striped over all switch planes, so a GPU's links (18 of
/// 25 GB/s on an H100) act as one link of their total rate, and the planes as one vertex.
struct NvSwitchSpec {
  LinkSpec gpu_link;    ///< the total of one GPU
  bool reduces = true;  ///< adds up and multicasts (NVLink SHARP): the third generation, of H100, and later
};

/// What two GPUs do that have no NVLink in common.
enum class Unjoined : std::uint8_t {
  neighbour,  ///< forward over NVLink through one GPU that both are joined to, if there is one; else PCIe
  pcie        ///< always PCIe
};

/// NVLink cables between pairs of GPUs, as in the hybrid cube mesh of the DGX-1.
struct NvlinkMeshSpec {
  LinkSpec link;                                   ///< one NVLink
  std::vector<std::vector<std::uint32_t>> counts;  ///< NVLinks between two GPUs: square, symmetric, 0 on the diagonal
  Unjoined unjoined = Unjoined::neighbour;
};

/// Devices that hang together: under one PCIe switch, or, without it, on the ports of what is above: the CPU socket, or
/// the switch of the group that this one is in.
struct PcieGroupSpec {
  std::uint32_t socket = 0;  ///< of an outermost group; those within hang where it does
  bool has_switch = true;
  std::vector<std::uint32_t> gpus = {};
  std::vector<std::uint32_t> nics = {};
  std::vector<PcieGroupSpec> groups = {};  ///< below its switch
};

/// Of a kind. Paths inside a node are a table over all pairs of its devices.
constexpr std::uint32_t kMaxDevicesPerNode = 1024;

/// A network port of a NIC.
struct NicSpec {
  Bandwidth rate;                     ///< line rate
  Ratio efficiency{1, 1};             ///< payload / line rate on the network: what headers leave
  Time forwarding;                    ///< added to every link that leaves the NIC
  std::optional<LinkSpec> pcie = {};  ///< its port; absent: as the node's other devices

  /// To a network, which sees nothing of its port inside.
  friend bool operator==(const NicSpec& a, const NicSpec& b) {
    return a.rate == b.rate && a.efficiency == b.efficiency && a.forwarding == b.forwarding;
  }
};

/// The inside of a node. Its ranks are its GPUs, or processes on the cores of its CPUs: it has one or the other.
struct NodeSpec {
  std::string name;
  std::uint32_t gpus = 0;
  std::uint32_t processes = 0;  ///< as many on every socket, where that divides; socket after socket
  std::uint32_t nics = 0;
  std::variant<std::monostate, NvSwitchSpec, NvlinkMeshSpec> scale_up;  ///< monostate: no NVLink
  std::uint32_t sockets = 1;
  std::optional<LinkSpec> socket_link;  ///< UPI, QPI, xGMI: between every two sockets; absent: they are not joined
  LinkSpec pcie_link;                   ///< device to switch or socket, and switch to socket
  std::optional<LinkSpec> c2c_link;  ///< GPU to its socket instead of PCIe (Grace superchips); in groups without switch
  std::optional<LinkSpec> nic_link;  ///< GPU straight to each NIC of its group, beside PCIe: ports on its own die
  std::vector<PcieGroupSpec> pcie;   ///< trees; every GPU and every NIC is in exactly one group
  /// Between a socket and its memory; absent: memory is as fast as what goes to and from the socket.
  std::optional<LinkSpec> memory_link;
  LinkSpec core_link;  ///< process to its socket: what one core moves to and from memory
  /// The inside written out, in place of all from scale_up to core_link; gpus, nics and sockets count what is in it.
  std::optional<NodeGraph> graph;

  NicSpec nic;                    ///< of every NIC, where they are alike
  std::vector<NicSpec> own_nics;  ///< of each NIC, where they are not; else empty

  bool nvlink_access = true;  ///< GPUs exchange data over NVLink; else by host memory
  NodeIdentity identity;      ///< its gpu_direct and peer_access also decide what goes by host memory

  std::uint32_t endpoints() const { return gpus + processes; }
  /// The socket that a process is on.
  std::uint32_t socket_of(std::uint32_t process) const {
    return static_cast<std::uint32_t>(std::uint64_t{process} * sockets / processes);
  }
  const NicSpec& nic_spec(std::uint32_t number) const { return own_nics.empty() ? nic : own_nics[number]; }
};

/// A group of a node and where it hangs.
struct PlacedGroup {
  const PcieGroupSpec* group = nullptr;
  std::uint32_t socket = 0;
  std::optional<std::uint32_t> within;  ///< the group around it, by its place in the list
};
/// All groups of the node's trees, each before those within it. Borrows the specification.
std::vector<PlacedGroup> placed_groups(const NodeSpec& spec);

/// Whether GPUs are on NVLink.
bool has_nvlink(const NodeSpec& spec);

/// What is wrong with a specification, one sentence each; empty: nothing.
std::vector<std::string> faults(const NodeSpec& spec);

}  // namespace athanor
