#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topologies/fabric/fabric.hpp"
#include "topologies/fabric/fabric_builder.hpp"
#include "topologies/node/node_spec.hpp"

namespace athanor {

/// The vertices, links and shortest paths of one node; all nodes of a cluster are copies of it.
/// Vertices are numbered within the node: GPUs or processes first, then NVSwitch, sockets, PCIe switches, memories,
/// NICs; those of a node that is written out in the order of its list.
///
/// Paths are shortest in links. NICs are never passed through; a GPU only between two NVLinks of a mesh, and at most
/// one. Among equals NVLink is taken before PCIe, then the greater rate of the narrowest link, then the lower port.
class NodeTemplate {
 public:
  static constexpr std::uint16_t kNoPort = 0xffff;

  /// Requires faults(spec) to be empty.
  explicit NodeTemplate(const NodeSpec& spec);

  /// The same node as one of several networks sees it, which has only these NICs of the node on it: nics(),
  /// nic_vertex() and nearest_nic() count those from 0 in the order given. Requires at least one, below the node's own
  /// nics(), each once.
  NodeTemplate with_nics(std::vector<std::uint32_t> nics) const;

  const NodeSpec& spec() const { return spec_; }
  std::uint32_t vertices() const { return static_cast<std::uint32_t>(vertices_.size()); }
  std::uint32_t links() const { return static_cast<std::uint32_t>(links_.size()); }
  std::uint32_t gpus() const { return spec_.gpus; }
  /// GPUs or processes: its first vertices, where ranks are.
  std::uint32_t endpoints() const { return spec_.endpoints(); }
  /// False where it has NVSwitches that only pass on.
  bool nvswitches_reduce() const {
    const auto* nvswitch = std::get_if<NvSwitchSpec>(&spec_.scale_up);
    return nvswitch == nullptr || nvswitch->reduces;
  }
  std::uint32_t nics() const { return static_cast<std::uint32_t>(nics_.size()); }
  std::uint32_t nic_vertex(std::uint32_t nic) const { return first_nic_ + nics_[nic]; }
  /// The number of the NIC that `local` is; nothing where it is none of these.
  std::optional<std::uint32_t> nic_number(std::uint32_t local) const {
    return local < first_nic_ ? std::nullopt : numbers_[local - first_nic_];
  }
  /// The number of NIC `nic` of the node, as Vertex::index counts; nothing where it is none of these. Requires that the
  /// node has it.
  std::optional<std::uint32_t> number_of_nic(std::uint32_t nic) const { return numbers_[nic]; }
  /// What a NIC is to its network. Requires nics() > 0.
  const NicSpec& nic(std::uint32_t number = 0) const { return spec_.nic_spec(nics_[number]); }
  /// Of a socket, and of its memory where memories are devices. Require a node that is not written out.
  std::uint32_t socket_vertex(std::uint32_t socket) const { return first_socket_ + socket; }
  std::uint32_t memory_vertex(std::uint32_t socket) const { return first_memory_ + socket; }
  /// Ports that a vertex has inside the node; a NIC's network port is the one after them.
  std::uint32_t ports(std::uint32_t local) const { return first_link_[local + 1] - first_link_[local]; }

  /// The port by which `from` sends towards `to`, and the vertex that it leads to; kNoPort: there is no path.
  std::uint16_t next_port(std::uint32_t from, std::uint32_t to) const { return next_[from * vertices() + to]; }
  std::uint32_t neighbour(std::uint32_t from, std::uint16_t port) const { return links_[first_link_[from] + port].to; }
  /// The memory (or CPU, where memories are no devices) by which data goes between GPUs that neither NVLink nor peer
  /// access joins, and between a GPU and a NIC without GPUDirect: that of the GPU which receives, or which sends to a
  /// NIC. Between processes it is the memory of the socket of the one that receives, where memories are devices.
  /// Nothing where next_port leads the whole way.
  std::optional<std::uint32_t> staging(std::uint32_t from, std::uint32_t to) const;
  /// The NICs that `local` uses unless told otherwise, at least one: of those that are fewest links away its share,
  /// when the GPUs that have the same ones nearest divide them, in order. On a DGX GPU i has NIC i; where a GPU has
  /// several to itself, all of them; where several GPUs have one, each that. Requires nics() > 0.
  std::span<const std::uint32_t> own_nics(std::uint32_t local) const { return own_nics_[local]; }
  /// Of these the one that a channel takes: channels take them in turn.
  std::uint32_t nearest_nic(std::uint32_t local, std::uint32_t channel = 0) const {
    return own_nics_[local][channel % own_nics_[local].size()];
  }
  /// Sockets on the way from one vertex to another, which is what tells a neighbour beside a NIC from one that is not.
  std::uint32_t sockets_between(std::uint32_t from, std::uint32_t to) const;

  /// Adds the vertices of node number `node`, numbered on from the builder's last. Returns the first.
  VertexId add_vertices(FabricBuilder& builder, std::uint32_t node) const;
  /// Adds the links among them.
  void add_links(FabricBuilder& builder, VertexId first) const;

 private:
  struct LocalLink {
    std::uint32_t from, to;
    Link link;
  };
  void add_devices();
  void add_graph(const NodeGraph& graph);
  void add_nvlinks();
  void add_pcie();
  void add_sockets();
  void add_processes();
  void connect(std::uint32_t a, std::uint32_t b, const LinkSpec& spec, LinkKind kind);
  void sort_links();
  void find_paths();
  void find_paths_to(std::uint32_t to);
  void forward_through_neighbours();
  void forward_through_neighbour(std::uint32_t from, std::uint32_t to);
  /// Of the widest NVLink from one GPU to another; 0 where there is none.
  Bandwidth nvlink_rate(std::uint32_t from, std::uint32_t to) const;
  bool begins_with_nvlink(std::uint32_t from, std::uint32_t to) const;
  void take_nics(std::vector<std::uint32_t> nics);
  std::vector<std::uint32_t> nearest_nics(std::uint32_t local) const;
  void choose_nics();
  void choose_memories();
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const;
  Time forwarding(std::uint32_t local) const;

  NodeSpec spec_;
  std::uint32_t first_socket_ = 0;
  std::uint32_t first_switch_ = 0;
  std::uint32_t first_memory_ = 0;
  std::uint32_t first_nic_ = 0;
  std::vector<Vertex> vertices_;
  std::vector<LocalLink> links_;                       // by source
  std::vector<std::uint32_t> first_link_;              // by vertex, one more at the end
  std::vector<std::uint16_t> next_;                    // [from][to]
  std::vector<std::uint32_t> nics_;                    // by number, which of the node's
  std::vector<std::optional<std::uint32_t>> numbers_;  // the inverse
  std::vector<std::vector<std::uint32_t>> own_nics_;   // by vertex
  std::vector<std::uint32_t> nearest_memory_;          // of each GPU; empty: all access each other
};

}  // namespace athanor
