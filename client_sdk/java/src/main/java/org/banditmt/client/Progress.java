package org.banditmt.client;

import java.util.List;

/** The progress of a run. */
public final class Progress extends Value {
    private final int index;
    private final int total;
    private final double cumulativeReward;

    Progress(int index, int total, double cumulativeReward) {
        this.index = index;
        this.total = total;
        this.cumulativeReward = cumulativeReward;
    }

    /**
     * Returns the number of committed rounds.
     *
     * @return the number of committed rounds
     */
    public int index() {
        return index;
    }

    /**
     * Returns the number of rounds in the run.
     *
     * @return the number of rounds
     */
    public int total() {
        return total;
    }

    /**
     * Returns the sum of the scores of the committed rounds.
     *
     * @return the cumulative reward
     */
    public double cumulativeReward() {
        return cumulativeReward;
    }

    /**
     * Returns whether all rounds are committed.
     *
     * @return whether the run is finished
     */
    public boolean finished() {
        return index >= total;
    }

    @Override
    List<?> parts() {
        return List.of(index, total, cumulativeReward);
    }
}
