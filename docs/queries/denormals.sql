-- Denormals: at which tree nodes do many tasks take many times as long as their equals?
-- Equal are tasks with the same codelet, block and flops in the whole run. Denormal numbers make tasks of some nodes many times
-- slower, with about as many instructions (`instructions`: against the median of the equals, where the module `counters` recorded
-- them). A task that was switched out (module `kernel`) is not counted, and a node is only shown if a tenth of its tasks are
-- slow: single ones have other reasons. treeqr flushes denormals to zero on its workers, so that no rows are expected.
WITH equals AS (
  SELECT *, median(end_ns - start_ns) OVER same AS usual_ns, count(*) OVER same AS equals
  FROM tasks t
  WHERE flops > 0 AND NOT EXISTS (
    SELECT 1 FROM switches s WHERE s.worker = t.worker AND s.out_ns < t.end_ns AND coalesce(s.in_ns, t.end_ns) > t.start_ns
  )
  WINDOW same AS (PARTITION BY codelet, "rows", cols, "inner", flops)
), counted AS (
  SELECT e.*, e.end_ns - e.start_ns > 4 * usual_ns AS slow,
         n.value / median(n.value) OVER (PARTITION BY e.codelet, e."rows", e.cols, e."inner", e.flops) AS more_instructions
  FROM equals e LEFT JOIN counters n ON n.task = e.task AND n.counter = 'instructions'
  WHERE equals >= 5
)
SELECT c.name AS codelet, node, count(*) AS tasks, count(*) FILTER (slow) AS slow_tasks,
       round(max((end_ns - start_ns) / usual_ns), 1) AS worst,
       round(sum(end_ns - start_ns - usual_ns) FILTER (slow) / 1e6, 3) AS lost_ms,
       round(avg(more_instructions) FILTER (slow), 2) AS instructions
FROM counted JOIN codelets c USING (codelet)
GROUP BY c.name, node HAVING slow_tasks >= 3 AND slow_tasks >= 0.1 * tasks
ORDER BY lost_ms DESC LIMIT 20;
