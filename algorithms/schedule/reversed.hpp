#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// What a collective is backwards: all-gather and reduce-scatter, broadcast and reduce, scatter and gather; out of
/// place. Requires one of these.
Collective dual_of(const Collective& collective);

/// A schedule run backwards, as a view: it carries out `collective`, the dual of what `schedule` does.
///
/// Data flows the other way. A primitive's sends become its receives and its store its operand, and the reverse: what
/// was copied to several places is added up from these. Input and output change their parts, scratch stays; connections
/// change their direction, so that in-port p is out-port p. Lanes, loops, programs and slots stay. A loop's steps come
/// in the opposite order, loop after loop, and so do the messages of each connection in a loop, at both ends; where
/// `together` steps are one whole, such as the slices of a chunk, these keep their order.
///
/// What is read without being stored elsewhere stays there; backwards, what arrives is added to it where `collective`
/// reduces. What is stored into the output is finished. In place, nothing is stored where it is already.
///
/// So the schedule has to be out of place and without waits, which would have to stand in the lanes that they wait for.
/// `together` divides the steps of every lane. Over each connection a loop sends as many messages as one receives. If
/// `collective` reduces, each element of the input is read once, none of the output, and the last that is done with one
/// of scratch is to store it elsewhere; else each element of any is read at most once.
std::unique_ptr<const Schedule> reversed(std::unique_ptr<const Schedule> schedule, const Collective& collective,
                                         std::uint32_t together = 1);

}  // namespace athanor
