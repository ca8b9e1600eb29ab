#pragma once

#include <string>

#include "models/nccl/machine/nccl_system.hpp"
#include "models/nccl/machine/topology_file.hpp"

namespace athanor {

class FileReader;

/// The machine of a topology file (2.30, src/graph/topo.cc): GPUs in the order of the file, ranks as it says, or by
/// device number where it says none. All NVSwitches are one, and so are Broadcom switches that show as two levels, and
/// the functions of one NIC. A port without a speed has 10 Gb/s; CPUs that NCCL does not know are joined without a
/// bound. Requires a topology without problems.
NcclSystem nccl_system(const NcclTopology& topology);

/// Of a file. Throws FileError when it cannot be read. With problems the result is not to be used.
NcclSystem read_nccl_topology(const FileReader& files, const std::string& name, Problems& problems);

}  // namespace athanor
