#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/traffic/traffic_matrix.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

class FileReader;
struct Cluster;

/// An endpoint as a scenario names it: by number in rank order, or by the name of its device.
struct EndpointConfig {
  std::uint32_t number = 0;  ///< where `name` is empty, or resolved
  std::string name;
  SourceLocation place;
};

/// The "traffic" of a scenario: who sends to whom, how much, and when.
struct TrafficConfig {
  enum class Pattern : std::uint8_t {
    permutation,
    incast,
    random,
    shift,
    bit_reversal,
    transpose,
    all_to_all,
    pairs,
    htsim
  };
  struct Pair {
    EndpointConfig from;
    EndpointConfig to;
    std::optional<Bytes> size;  ///< else that of the scenario
    Time start;
  };

  Pattern pattern = Pattern::permutation;
  std::vector<Bytes> sizes;  ///< of a message; empty where pairs or a file say them
  std::uint32_t connections = 1;
  std::uint32_t rounds = 1;
  Time start;
  std::optional<TrafficMatrix::Window> window;
  std::optional<std::uint32_t> endpoints;  ///< that take part, from endpoint 0 on; absent: all

  EndpointConfig receiver;                    ///< of an incast
  std::optional<std::uint32_t> sender_count;  ///< that follow the receiver
  std::vector<EndpointConfig> senders;        ///< in its place
  std::uint32_t messages = 1;                 ///< of random
  std::uint32_t by = 1;                       ///< of shift
  std::vector<Pair> pairs;
  TrafficMatrix imported;                                     ///< of htsim
  std::map<std::string, SourceLocation, std::less<>> places;  ///< of keys, "" for the whole
};

std::string_view name(TrafficConfig::Pattern pattern);

/// `files` reads what the section names, and `problems` takes what is wrong with the files that it names.
void visit(Fields& fields, const FileReader& files, Problems& problems, TrafficConfig& traffic);

/// What is sent beside jobs, again and again: one size of messages, no rounds and no window. `streams`: it never ends,
/// and has no sizes.
void visit_background(Fields& fields, const FileReader& files, Problems& problems, TrafficConfig& traffic,
                      bool streams);

/// Finds the endpoints that the text names and adds what does not fit the cluster to `problems`.
void resolve(TrafficConfig& traffic, const Cluster& cluster, Problems& problems);

/// The messages, of `size` where nothing else is said. What is drawn depends on the seed. Requires a text that was
/// resolved without a problem.
TrafficMatrix make_traffic(const TrafficConfig& traffic, Bytes size, std::uint64_t seed);

class ExperimentReader;
std::unique_ptr<ExperimentReader> traffic_reader();

}  // namespace athanor
