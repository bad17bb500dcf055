-- Lines with limits or a rate that no job names any more, so that pruning finds them at once.
CREATE INDEX lines_unnamed ON lines (id) WHERE jobs = 0 AND id <> lane;
