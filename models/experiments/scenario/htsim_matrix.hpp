#pragma once

#include <string>

#include "models/traffic/traffic_matrix.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

class FileReader;

/// Reads a connection matrix (.cm) of htsim: "FROM->TO" lines with `start` (picoseconds), `size` (bytes), `trigger`,
/// `send_done_trigger` and `recv_done_trigger`, and `trigger id N oneshot` or `barrier count K`. Both kinds of done
/// trigger count when the last byte has been delivered: acknowledgements take no time. Each flow is a connection of its
/// own. Adds what is wrong with the file, with its line, to `problems`. Throws FileError.
TrafficMatrix read_htsim_matrix(const FileReader& files, const std::string& name, Problems& problems);

}  // namespace athanor
