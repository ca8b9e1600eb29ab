#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/ids.hpp"
#include "sim/units.hpp"

namespace athanor {

class Fields;
class PacketLinks;

/// What flows do about congestion. One object for all flows of a network.
class CongestionControl {
 public:
  struct Acknowledgement {
    std::uint32_t packets = 0;        ///< that it acknowledges for the first time; at least one
    std::uint32_t first_missing = 0;  ///< all packets before this one are there
    std::uint32_t sent = 0;           ///< packets of the flow that have been sent so far
    bool marked = false;              ///< one of them met a queue that marks
    Time round_trip;                  ///< of the packet that it answers
    Time now;
    std::uint32_t packet = 0;  ///< the one that it answers
  };
  /// Where a flow stands when a packet turns out to be lost.
  struct Progress {
    std::uint32_t packet = 0;       ///< the one that is lost
    std::uint32_t sent = 0;         ///< packets of the flow that have been sent so far
    std::uint32_t outstanding = 0;  ///< packets of the flow that are under way
    Time now;
  };

  virtual ~CongestionControl() = default;
  /// Packets that may be outstanding.
  virtual std::uint32_t window(ConnectionId /*flow*/) const { return UINT32_MAX; }
  /// A data packet of so many bytes on the wire leaves at `start`. Returns when the next one may.
  virtual Time paced(ConnectionId /*flow*/, std::uint32_t /*bytes*/, Time start) { return start; }
  virtual void congestion_notice(ConnectionId /*flow*/, Time /*now*/) {}
  virtual void acknowledged(ConnectionId /*flow*/, const Acknowledgement&) {}
  virtual void lost(ConnectionId /*flow*/, const Progress&) {}
  virtual void timed_out(ConnectionId /*flow*/, const Progress&) {}

  /// What it allows a flow at present, a rate or a window in a unit of its own. Compared with itself only, to see
  /// whether it has settled.
  virtual double level(ConnectionId /*flow*/) const { return 0; }
  /// Does it hold a flow back by when it may send, whatever the window?
  virtual bool paces(ConnectionId /*flow*/) const { return false; }
  /// Will what it allows change with time, even if nothing happens?
  virtual bool has_timers(ConnectionId /*flow*/) const { return false; }
  /// So much time and so many packets of the flow were skipped, in which nothing changed: moves what it remembers.
  virtual void skip(ConnectionId /*flow*/, Time /*by*/, std::uint32_t /*packets*/) {}
};

/// What a control is made for.
struct ControlSite {
  Bytes packet;                       ///< a full one on the wire
  Bytes reply;                        ///< an acknowledgement on the wire
  std::uint32_t initial_window = 10;  ///< packets
  IdVector<ConnectionId, Bandwidth>
      line_rates;      ///< of the first link of each flow; max where a flow stays inside its host
  PacketLinks& links;  ///< whose switches may begin to write telemetry
};

/// What is said of a control without its keys.
struct ControlWords {
  std::string_view name;
  std::string_view meaning;     ///< one line
  bool has_keys = false;        ///< in an object of its name beside "control"
  bool needs_marks = false;     ///< it does nothing about congestion where switches mark no packets
  bool by_losses = false;       ///< it slows down for losses alone: see Hosts::jitter
  bool initial_window = false;  ///< it begins with ControlSite::initial_window
  bool receivers_ask = false;   ///< receivers ask for each packet beyond the first window (Hosts::pull)
  bool selective_only = false;  ///< it needs to be told of each packet
  bool telemetry = false;       ///< it reads what switches write into packets

  /// Does what it does at one host depend on nothing of other hosts but their packets? Then hosts may be simulated on
  /// several threads.
  bool keeps_to_hosts() const { return !receivers_ask && !telemetry; }
};

/// A congestion control as a scenario describes it. Each is a file of its own in this folder, which holds its keys,
/// what it does and its words, and a line in catalog.cpp.
class ControlKind {
 public:
  virtual ~ControlKind() = default;
  /// Declares the keys of its object.
  virtual void visit(Fields& /*reader*/) {}
  virtual std::unique_ptr<CongestionControl> make(const ControlSite& site) const = 0;
  /// Least time between two congestion notices that a receiver of marked packets sends to a flow; none: it sends none.
  virtual std::optional<Time> notice_interval() const { return {}; }

  const ControlWords& words() const { return *words_; }

 private:
  friend struct ControlEntry;
  const ControlWords* words_ = nullptr;
};

/// A control in the catalog.
struct ControlEntry {
  ControlWords words;
  std::shared_ptr<ControlKind> (*construct)() = nullptr;

  /// With the defaults of all its keys.
  std::shared_ptr<ControlKind> make() const {
    std::shared_ptr<ControlKind> kind = construct();
    kind->words_ = &words;
    return kind;
  }
};

/// In the order of lists.
const std::vector<ControlEntry>& congestion_controls();

/// The control of this name, with the defaults of all its keys. Requires that the catalog has it.
std::shared_ptr<ControlKind> congestion_control(std::string_view name);

/// "newreno, cubic and dctcp": those that begin with ControlSite::initial_window.
std::string controls_with_initial_window();

}  // namespace athanor
