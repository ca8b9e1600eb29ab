#include "tools/report/slots_json.hpp"

#include <nlohmann/json.hpp>

#include "sim/format.hpp"

namespace athanor {

nlohmann::ordered_json slots_json(const AggregationJobResult& job) {
  return {{"packets", job.packets},
          {"lost", job.lost},
          {"retransmissions", job.retransmissions},
          {"repeated_results", job.repeated_results},
          {"share_in_switches", share_in_switches(job)},
          {"collisions", job.collisions},
          {"server_packets", job.server_packets},
          {"round_trip_us", microseconds(job.lossless_round_trip)}};
}

}  // namespace athanor
