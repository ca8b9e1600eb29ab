#pragma once

#include <string>
#include <string_view>

#include "models/nccl/channel_graph.hpp"
#include "models/nccl/machine/nccl_system.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

class FileReader;

/// The graphs of a file that NCCL wrote with NCCL_GRAPH_DUMP_FILE and reads with NCCL_GRAPH_FILE: what its search
/// found, as ground truth in place of ours. GPUs and NICs are told by the device numbers that the system has; of a GPU
/// without one its rank counts.
///
/// Problems: malformed XML, another version than 1, no graph of rings or of trees, patterns and types of path that are
/// none, GPUs and NICs that the system does not have, channels that do not go through every GPU once or are not as many
/// as the graph says. With problems the result is not to be used.
ChannelGraphs parse_nccl_graphs(std::string_view text, const std::string& file, const NcclSystem& system,
                                Problems& problems);
/// Of a file. Throws FileError when it cannot be read.
ChannelGraphs read_nccl_graphs(const FileReader& files, const std::string& name, const NcclSystem& system,
                               Problems& problems);

}  // namespace athanor
