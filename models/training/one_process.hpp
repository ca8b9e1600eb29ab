#pragma once

#include <vector>

#include "models/training/memory.hpp"

namespace athanor {

/// What one GPU has of a layer, in bytes.
struct LayerMemory {
  double kept = 0;       ///< of a micro-batch, from its forward to the end of its backward
  double gradients = 0;  ///< of its parameters, from its backward on
};

/// What a process that has several GPUs puts on them. Bytes of one GPU, unless it says otherwise.
struct OneProcessLoad {
  std::vector<LayerMemory> layers;  ///< in forward order; not empty
  MemoryUse states;                 ///< of the module: parameters, gradients that stay between micro-batches, optimizer
  double buffers = 0;               ///< of any GPU, at all times
  double inputs = 0;
  double targets = 0;          ///< of all GPUs' inputs, on the first one
  double output = 0;           ///< what the model puts out
  double loss = 0;             ///< what the loss makes of it, its gradient among that
  double output_gradient = 0;  ///< 0: it is written over what was put out
  double gpus = 2;             ///< at least 2
};

struct OneProcessMemory {
  MemoryUse first;   ///< the GPU with the module
  MemoryUse others;  ///< each of the others
};

/// PyTorch's DataParallel (torch/nn/parallel: data_parallel.py, replicate.py, comm.py, _functions.py), each GPU at its
/// fullest moment. Replicas are made for each forward; the first GPU's shares the module's own parameters. All of a
/// process's replicas are one function to autograd, so that gradients of replicas stay until the last is there; then
/// the first GPU adds them up into a tensor of their own. It has the outputs of all GPUs until backward is over, and
/// makes the loss of them.
///
/// The moments, of n GPUs with activations A, gradients G and output o: the outputs are gathered (A + o, and of the
/// first n o more); the loss is made (A + n o and what the loss makes of n o); backward of layer l (activations up to
/// l, gradients from l on, with n o; of the last layer also the gradient of the output); gradients are added up (2 G
/// and n o, the others G).
OneProcessMemory one_process_memory(const OneProcessLoad& load);

}  // namespace athanor
