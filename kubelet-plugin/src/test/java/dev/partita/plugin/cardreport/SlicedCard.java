package dev.partita.plugin.cardreport;

import java.util.ArrayList;
import java.util.List;

/** A card with time slices, and programs that launch, wait until that is done, and pause. */
final class SlicedCard {
  private static final long STEP = 10_000;
  private static final long SLICE = 2_000_000;
  private static final long CHANGE = 150_000;
  private static final long WAITED = 100_000;

  /** A program, with what it had of the card so far, in ns. */
  static final class Program {
    private final Pending region;
    private final long work;
    private final long pause;
    private long launchedAt;
    private long left;
    private long from; // when the card began with it
    private long had;

    private Program(Pending region, long work, long pause, long begin) {
      this.region = region;
      this.work = work;
      this.pause = pause;
      this.launchedAt = begin;
      this.left = work;
    }

    long had() {
      return had;
    }

    private boolean isPending(long now) {
      return now >= launchedAt;
    }

    private void serve(long now) {
      if (left == work && (pause > 0 || from == 0)) {
        from = now;
      }
      had += STEP;
      left -= STEP;
      if (left <= 0) {
        end(now + STEP);
      }
    }

    private void end(long now) {
      if (pause > 0) {
        region.begin(from, now, from - launchedAt > WAITED);
      } else { // the next launch follows at once
        region.add(from, now);
        from = now;
      }
      left = work;
      launchedAt = now + pause;
    }
  }

  private final List<Program> programs = new ArrayList<>();
  private long now;
  private int holder;
  private long begins;
  private long ends;

  SlicedCard(long now) {
    this.now = now;
  }

  /** Begins a program that launches so many ns of work at a time, and does nothing for so long when they are done. */
  Program begin(Pending region, long work, long pause) {
    Program program = new Program(region, work, pause, now);
    programs.add(program);
    return program;
  }

  void runUntil(long end) {
    for (; now < end; now += STEP) {
      if (!programs.get(holder).isPending(now) || now >= ends) {
        next();
      }
      if (now >= begins && programs.get(holder).isPending(now)) {
        programs.get(holder).serve(now);
      }
    }
  }

  private void next() {
    for (int i = 1; i <= programs.size(); i++) {
      int index = (holder + i) % programs.size();
      if (programs.get(index).isPending(now)) {
        begins = index == holder ? now : now + CHANGE;
        ends = begins + SLICE;
        holder = index;
        return;
      }
    }
  }
}
