#pragma once

#include <cstdint>

#include "models/jobs/boxed.hpp"
#include "models/jobs/speed.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// How far a job has come, and how much of that it has saved. A job works for an interval, stands still while it writes
/// a checkpoint, and so on; a checkpoint can be used when it has been persisted, too.
class JobProgress {
 public:
  /// Work, and the time on nodes that it took; of that, how much it took longer since nodes were slow.
  struct Amount {
    WallTime work;
    WallTime time;
    WallTime slowed;
  };

  /// Checkpoints in memory between those that are written, as of MemoryCheckpoints.
  struct InMemory {
    WallTime interval = WallTime::max();  ///< max: none
    WallTime write;
    WallTime persist;
  };

  /// It gets nodes, and goes on from what it has kept once `overhead` has passed. `interval` max: no checkpoints.
  void begin(WallTime now, WallTime overhead, WallTime interval, WallTime write, WallTime persist,
             const InMemory& memory = {WallTime::max(), {}, {}});
  /// It goes on where it is, after fall_back_to_memory().
  void resume(WallTime now, WallTime overhead);
  /// From now on. `share`: of what it would be if no node were slow. Requires that it has been brought up to the
  /// present.
  void set_speed(Speed speed, Speed share = {});
  /// How fast it writes from now on, as a multiple of what `write` is meant at. Requires the same.
  void set_write_speed(Speed speed) { write_speed_ = speed; }
  /// Brings it up to the present.
  void advance(WallTime now);
  /// When it will have done so much work; max: never.
  WallTime when(WallTime work) const;
  /// Whether it stands still for a checkpoint.
  bool is_writing() const { return saves() && position_ >= span_; }
  /// When it begins or ends to write, as far as it is known now; max: never.
  WallTime next_phase() const;

  WallTime work() const { return at_position().work; }
  /// All that it has done.
  Amount done() const { return at_position(); }
  /// How long that takes where no node is slow.
  WallTime unhindered() const {
    const Amount all = done();
    return all.time - all.slowed;
  }
  /// What a new start goes on from.
  Amount kept() const { return position_ >= persist_ ? saved_ : saved_before_; }
  /// Loses what has not been kept; it has no nodes any more.
  void fall_back();
  /// Loses what is not in memory; the cycle goes on from there.
  void fall_back_to_memory();
  /// Keeps all of it: its nodes were taken in an orderly way.
  void keep();
  /// Since begin(), up to the present.
  WallTime writing() const { return writing_; }

 private:
  /// Checkpoints in memory.
  struct Memory {
    InMemory rules;
    Amount usable;                   ///< by the last one that could be used when the speed changed
    Amount newest;                   ///< by the last one then, which ...
    std::int64_t newest_number = 0;  ///< ... has this number in its cycle
    std::int64_t least_number = -1;  ///< of the one that the job went on from in this cycle; -1: none

    WallTime cycle() const { return rules.interval + rules.write; }
  };

  WallTime cycle() const { return span_ + write_; }
  /// How long it takes still to the end of the cycle.
  WallTime to_end_of_cycle() const;
  bool saves() const { return interval_ != WallTime::max(); }
  /// Of a point in the cycle, how long has been worked in it; and when so much has been.
  WallTime worked(WallTime position) const;
  WallTime position_of(WallTime worked) const;
  /// What is in memory is what it has done up to the last change.
  void forget_memory();
  /// What of memory could not be told any more after a change of speed.
  void note_memory();
  void end_cycle();
  /// Moves on in the part of the cycle before it writes.
  void work_to(WallTime position);
  /// The last checkpoint in memory whose copies have arrived, counted from the one with which the cycle began; -1: one
  /// before that.
  std::int64_t last_in_memory(WallTime persist) const;
  Amount kept_in_memory() const;
  Amount at_position() const;
  Amount plus(Amount before, WallTime time) const {
    const WallTime slowed = share_ == Speed{} ? WallTime{} : time - share_.work_in(time);
    return {before.work + speed_.work_in(time), before.time + time, before.slowed + slowed};
  }

  Speed speed_;
  Speed share_;
  WallTime interval_ = WallTime::max();
  WallTime write_;
  WallTime persist_;
  WallTime updated_;   ///< in the future while it is being started
  WallTime position_;  ///< in the cycle, as if it wrote at full speed
  Speed write_speed_;
  Amount anchor_;         ///< what was done ...
  WallTime anchored_at_;  ///< ... at this position of the cycle
  Amount saved_;          ///< by the last checkpoint that was written
  Amount saved_before_;   ///< and by the one before it
  WallTime writing_;
  WallTime span_ = WallTime::max();  ///< of a cycle before it writes
  Boxed<Memory> memory_;             ///< none: nothing is kept there
};

}  // namespace athanor
