#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "sim/error.hpp"

namespace athanor {

/// What an algorithm needs beside its ranks.
enum class Engine : std::uint8_t {
  none,
  nvswitch,                 ///< one engine agent that reduces and multicasts for all ranks of one node
  server,                   ///< one agent on an endpoint of its own, which is none of the ranks
  switches,                 ///< agents in switches of the network that reduce and multicast, joined to a tree
  nvswitches,               ///< an NVSwitch engine on each node
  switches_per_head,        ///< a tree of switches for each rank of a node, over the ranks of that place on all nodes
  nvswitches_and_switches,  ///< both: NVSwitch engines first
};

/// The name of the enumerator.
std::string_view name(Engine engine);
/// Whether NVSwitches are among them.
bool needs_nvswitches(Engine engine);

/// What an algorithm costs with one channel and the payload in one loop and one slice.
struct Cost {
  std::uint32_t steps = 0;  ///< rounds when a send takes one unit of time and everything else none: the terms of alpha
  Elements sent;            ///< by the busiest rank; in full-duplex links of one port the factor of beta
  Elements reduced;         ///< additions by the busiest rank, engines apart: the factor of gamma
  bool operator==(const Cost&) const = default;
};

/// Of an algorithm that was read from a file: what it was written for.
struct AlgorithmOrigin {
  std::string file;
  std::string protocol;  ///< "" where the file does not say
  std::uint32_t channels = 1;
};

/// Why no algorithm can carry this out: no ranks or channels, a root that is no rank, a negative count, ...
std::optional<std::string> invalid(const Collective& collective, const Layout& layout);

/// One way to do one collective. Names are unique per kind. One rank alone copies its input, whatever the algorithm.
struct Algorithm {
  std::string name;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string summary;  ///< one line
  Engine engine = Engine::none;
  /// Time for P ranks and n elements (Collective::count): alpha is the latency of a message, beta the time per element
  /// of a rank's port, gamma that of one addition.
  std::string formula;
  std::string source;       ///< of the algorithm or the formula
  std::string explanation;  ///< a paragraph: who sends what to whom, and what that is good for; empty if imported
  std::string ranks;        ///< how many and in which shape, and what becomes of the others
  std::string fabrics;      ///< that it is made for, and payloads
  /// Chunks follow each other through it, so that one chunk alone would leave ports idle. Where nobody says how large
  /// a chunk is, a model may choose.
  bool pipelines = false;
  bool takes_dimensions = false;  ///< its shape is a GridShape, whose sides may be those of the cluster
  /// None for those of the catalog.
  std::optional<AlgorithmOrigin> origin = std::nullopt;

  /// The parts that each algorithm defines; callers use the members below. Require at least two ranks and arguments
  /// that invalid() accepts.
  std::function<std::unique_ptr<const Schedule>(const Collective&, const Layout&)> make_for_many = nullptr;
  std::function<Elements(const Collective&, const Layout&)> granule_for_many = nullptr;  ///< null: one element
  std::function<Cost(const Collective&)> cost_for_many = nullptr;
  /// In place of cost_for_many where groups, orders and shape of the layout count.
  std::function<Cost(const Collective&, const Layout&)> cost_in_shape = nullptr;
  /// Why many ranks cannot do it, beyond invalid(); null: they always can.
  std::function<std::optional<std::string>(const Collective&, const Layout&)> refuses_many = nullptr;

  /// Why it does not fit, in words for the user, or nothing.
  std::optional<std::string> refuses(const Collective& collective, const Layout& layout) const;
  /// Throws ScenarioError where refuses() has a reason.
  std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) const;
  /// Counts that are a multiple of this are cut so that in each step all ranks and channels have equally many
  /// elements. Models price a count as if it were rounded up to the next multiple.
  Elements granule(const Collective& collective, const Layout& layout) const;
  /// Exact, also for uneven counts. Of the layout only groups, orders and shape count; of its engines only the heads.
  Cost cost(const Collective& collective, const Layout& layout = {}) const;
};

/// For Algorithm::make_for_many of an algorithm that is one class.
template <class Kind>
std::unique_ptr<const Schedule> make_schedule(const Collective& collective, const Layout& layout) {
  return std::make_unique<Kind>(collective, layout);
}

/// All algorithms, by kind in the order of CollectiveKind; the first of each kind is the one to begin with.
std::span<const Algorithm> catalog();

/// Throws ScenarioError ("unknown-algorithm") with the nearest name and all names of the kind.
const Algorithm& find(CollectiveKind kind, std::string_view name);

/// Which algorithms of the catalog fit, in words: "these fit: ring, ...", or that none does.
/// `available`: what the caller can carry out (its fabric has the engine, ...); absent: all.
std::string alternatives(const Collective& collective, const Layout& layout,
                         const std::function<bool(const Algorithm&)>& available = nullptr);

/// Why an algorithm does not fit ("algorithm-does-not-fit"), with the alternatives as its hint, or nothing. The place
/// in the user's input is for the caller to add.
std::optional<Problem> refusal_with_alternatives(const Algorithm& algorithm, const Collective& collective,
                                                 const Layout& layout,
                                                 const std::function<bool(const Algorithm&)>& available = nullptr);

}  // namespace athanor
