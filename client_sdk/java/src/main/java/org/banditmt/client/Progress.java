package org.banditmt.client;

import java.util.List;

/** How far a run has come. */
public final class Progress extends Value {
    private final int index;
    private final int total;
    private final double cumulativeReward;

    Progress(int index, int total, double cumulativeReward) {
        this.index = index;
        this.total = total;
        this.cumulativeReward = cumulativeReward;
    }

    /** Rounds answered. */
    public int index() {
        return index;
    }

    /** Rounds in the run. */
    public int total() {
        return total;
    }

    /** The sum of all scores so far. */
    public double cumulativeReward() {
        return cumulativeReward;
    }

    /** Has every sentence been answered? */
    public boolean finished() {
        return index >= total;
    }

    @Override
    List<?> parts() {
        return List.of(index, total, cumulativeReward);
    }
}
