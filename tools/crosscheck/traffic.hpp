#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace athanor {

/// One message of a connection matrix.
struct Flow {
  std::uint32_t from = 0;  ///< endpoints, by number
  std::uint32_t to = 0;
  std::int64_t bytes = 0;
  std::optional<std::uint32_t> trigger;  ///< that starts it; none: it starts at 0
  std::vector<std::uint32_t> fires;      ///< triggers that its end counts for
};

/// The flows of a connection matrix (.cm) as `athanor export schedule --format htsim` writes it, and what is to start
/// when one of them has arrived. An acknowledgement takes no time here.
class Traffic {
 public:
  /// Throws std::runtime_error for what is no connection matrix.
  explicit Traffic(const std::string& text);

  const std::vector<Flow>& flows() const { return flows_; }
  /// Flows that start at 0.
  std::vector<std::uint32_t> first() const;
  /// Flows that start now that this one has arrived.
  std::vector<std::uint32_t> arrived(std::uint32_t flow);

 private:
  void read_flow(const std::string& line);
  void read_trigger(const std::string& line);

  std::vector<Flow> flows_;
  std::map<std::uint32_t, std::uint32_t> awaited_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> started_by_;
};

/// A fabric as `athanor export fabric --format json` writes it.
struct ExportedFabric {
  struct Link {
    std::uint32_t from = 0;  ///< vertices
    std::uint32_t to = 0;
    std::int64_t rate = 0;  ///< bytes per second, line and payload
    std::int64_t usable = 0;
    std::int64_t latency_ps = 0;
  };
  std::vector<std::string> names;  ///< of vertices
  std::vector<Link> links;
  std::vector<std::uint32_t> endpoints;                                                  ///< vertices
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> routes;  ///< links, by endpoints
};
ExportedFabric read_exported_fabric(const std::string& text);

struct TrafficCase {
  ExportedFabric network;
  Traffic traffic;
};
/// Reads the files that a program was given: FABRIC.json FLOWS.cm. Throws std::runtime_error with how it is called.
TrafficCase read_case(int argc, char** argv);

/// Prints {"engine": ..., "flows": N, "mean_us": M, "last_us": L}: how long flows took on average from their start to
/// their last byte, and when the last one ended.
class Report {
 public:
  explicit Report(std::size_t flows) : started_(flows, 0), ended_(flows, -1) {}
  void start(std::uint32_t flow, double seconds) { started_[flow] = seconds; }
  void end(std::uint32_t flow, double seconds) { ended_[flow] = seconds; }
  /// Throws std::runtime_error where a flow has not ended.
  void print(const char* engine) const;

 private:
  std::vector<double> started_;
  std::vector<double> ended_;
};

}  // namespace athanor
