-- Buffer flush: how much of the idleness lies beside a spill of the recorder?
-- For each spill, the time in which workers were without a task while it lasted. A large `part_of_idle` means that the recorder
-- disturbed the run that it recorded: give it more memory (`--trace-memory`).
WITH idle AS (
  SELECT start_ns, end_ns FROM states
  WHERE worker IS NOT NULL AND state IN ('scheduling', 'idle', 'sleeping')
), beside AS (
  SELECT sum(least(i.end_ns, s.end_ns)::BIGINT - greatest(i.start_ns, s.start_ns)::BIGINT) AS ns
  FROM spills s JOIN idle i ON i.start_ns < s.end_ns AND i.end_ns > s.start_ns
)
SELECT (SELECT count(*) FROM spills) AS spills,
       (SELECT coalesce(sum(bytes), 0) FROM spills) AS spilled_bytes,
       (SELECT coalesce(sum(end_ns - start_ns), 0) / 1e6 FROM spills) AS spilling_ms,
       (SELECT coalesce(sum(end_ns - start_ns), 0) / 1e6 FROM idle) AS idle_ms,
       coalesce(ns, 0) / 1e6 AS idle_beside_spills_ms,
       round(coalesce(ns, 0) / greatest((SELECT sum(end_ns - start_ns) FROM idle), 1), 4) AS part_of_idle
FROM beside;
