#pragma once

namespace athanor {

/// Bytes that this process may have: of the machine, of its limits and of its control group the least.
double machine_memory();

}  // namespace athanor
