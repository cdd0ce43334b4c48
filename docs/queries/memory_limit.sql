-- Memory limit: what did waiting for memory cost, and what ran meanwhile?
-- The submission's waits for memory, and of the workers' time in them the part in each codelet, beside the part it has
-- otherwise. Tasks that clear and assemble, beside waits, press out those that compute. The limit is `run.memory_limit_bytes` in
-- manifest.json; `peak_bytes` is what the factorization held at most.
WITH waits AS (
  SELECT start_ns, end_ns FROM states WHERE state = 'memory_full'
), during AS (
  SELECT codelet, sum(least(t.end_ns, w.end_ns)::BIGINT - greatest(t.start_ns, w.start_ns)::BIGINT) AS ns
  FROM tasks t JOIN waits w ON t.start_ns < w.end_ns AND t.end_ns > w.start_ns
  GROUP BY codelet
), whole AS (
  SELECT codelet, sum(end_ns - start_ns) AS ns FROM tasks GROUP BY codelet
), sums AS (
  SELECT codelet, coalesce(d.ns, 0) AS during_ns, w.ns - coalesce(d.ns, 0) AS else_ns
  FROM whole w LEFT JOIN during d USING (codelet)
)
SELECT c.name AS codelet,
       round(during_ns / greatest(sum(during_ns) OVER (), 1), 4) AS part_in_waits,
       round(else_ns / greatest(sum(else_ns) OVER (), 1), 4) AS part_otherwise,
       (SELECT count(*) FROM waits) AS waits,
       (SELECT coalesce(sum(end_ns - start_ns), 0) / 1e6 FROM waits) AS waited_ms,
       (SELECT max(after_bytes) FROM memory JOIN tasks USING (task) JOIN codelets USING (codelet)
        WHERE memory_node = 0 AND role <> 'solve') AS peak_bytes
FROM sums JOIN codelets c USING (codelet)
ORDER BY part_in_waits DESC, part_otherwise DESC;
