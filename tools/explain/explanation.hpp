#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/execution/critical_path.hpp"
#include "models/experiments/run.hpp"
#include "models/network/link_use.hpp"
#include "sim/config/json_value.hpp"
#include "sim/time.hpp"
#include "tools/explain/explanation_parts.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// One way to carry out a collective.
struct ExplainedCandidate {
  std::string algorithm;            ///< as the library calls it, else as the catalog does
  std::string protocol;             ///< "" where all protocols of the algorithm share its fate
  std::optional<double> predicted;  ///< us, by NCCL's own model
  std::optional<Time> simulated;
  std::string obstacle;  ///< why it cannot run; "": it can
  bool chosen = false;
};

/// Parts of the time of the chosen candidate, one after the other.
struct ExplainedPhases {
  Time launch;  ///< before the first primitive
  Time fill;    ///< until every thread block that receives has got its first message
  Time steady;
  Time drain;  ///< after the first thread block has sent its last
  Time host;   ///< what a host that launches one collective after the other adds
  Time total() const { return launch + fill + steady + drain + host; }
};

/// The way of equal channels through a node.
struct ExplainedWay {
  std::uint32_t first = 0;  ///< number of the first channel that takes this path
  std::uint32_t last = 0;
  std::vector<std::uint32_t> gpus;      ///< in the order in which data meet them
  std::optional<std::uint32_t> enters;  ///< NIC
  std::optional<std::uint32_t> leaves;
};

/// Why a collective of one size takes the time that it takes.
struct Explanation {
  Heading heading;
  std::string collective;  ///< "all_reduce of 64 MiB by 16 ranks, float32 sum"
  std::string library;     ///< "NCCL 2.27.5" and where it differs from its default; "": none decides
  std::vector<ExplainedCandidate> candidates;  ///< those that can run by their time, then those that cannot
  std::string algorithm;
  std::string protocol;
  Time time;
  std::optional<ExplainedInterval> interval;  ///< of that time, in us; none: nobody knows
  std::vector<std::string> reasons;           ///< sentences
  std::vector<std::string> work;              ///< channels, chunks, slices, threads, in words
  std::vector<std::string> channels;          ///< the way of each through a node, one line each
  std::vector<ExplainedWay> ways;             ///< `channels` for programs; none where the path is not known
  std::optional<PathShares> path;  ///< of the schedule, without launch and host; none where nobody could follow it
  std::optional<ExplainedPhases> phases;  ///< none at levels where nobody listens
  std::vector<double> sending;      ///< share of the bytes that left in each equal part of fill, steady state and drain
  std::string limited_by;           ///< as in result tables
  double busiest_link = 0;          ///< percent of the time in which the busiest link is busy
  std::set<LinkKind> limiting;      ///< kinds of the links that are busy at least half as long as the busiest
  std::vector<LinkClassUse> links;  ///< of every class in the fabric, the busiest first
  Time bound;
  std::string bound_by;
  std::vector<ExplainedChange> changes;  ///< what faster links would bring
  std::vector<std::string> notes;
};

/// For people, of at most 120 columns. Ends with a line feed.
std::string to_text(const Explanation& explanation);
/// {"case", "collective", "library", "candidates": [{"algorithm", "protocol", "predicted_us", "simulated_us",
/// "obstacle", "chosen"}], "chosen": {"algorithm", "protocol", "time_us", "time_low_us", "time_high_us", "known"},
/// "reasons", "work", "channels", "critical_path", "phases_us", "sending", "ways", "limited_by",
/// "busiest_link_percent", "links" (links_json()), "bound_us", "bound_by", "changes", "notes"}; what is unknown is
/// null.
JsonValue to_json(const Explanation& explanation);

/// The phases as one line of `width` characters: 'L' launch, '/' fill, '=' steady state, '\' drain, 'H' host; each that
/// takes any time gets one at least. Requires width >= 5.
std::string phase_bar(const ExplainedPhases& phases, std::size_t width);

/// How much is being sent, below such a bar: from ' ', nothing, to '#', most. Requires shares, each of an equal part.
std::string sending_bar(const std::string& phase_bar, const std::vector<double>& shares);

}  // namespace athanor
