-- Denormals: which tasks take many times as long as their equals?
-- Equal are tasks with the same codelet, block and flops. Denormal numbers make a few of them many times slower, at some tree
-- nodes, at any time, with about as many instructions (`instructions` is against the median of the equals, where the module
-- `counters` recorded them) and more cycles. treeqr flushes them to zero on its workers, so that few rows are expected.
WITH equals AS (
  SELECT *, median(end_ns - start_ns) OVER same AS usual_ns, count(*) OVER same AS equals
  FROM tasks WHERE flops > 0
  WINDOW same AS (PARTITION BY codelet, rows, cols, "inner", flops)
), counted AS (
  SELECT e.*, n.value / median(n.value) OVER (PARTITION BY e.codelet, e.rows, e.cols, e."inner", e.flops) AS instructions
  FROM equals e LEFT JOIN counters n ON n.task = e.task AND n.counter = 'instructions'
)
SELECT c.name AS codelet, node, count(*) AS slow_tasks, round(max((end_ns - start_ns) / usual_ns), 1) AS worst,
       round(sum(end_ns - start_ns - usual_ns) / 1e6, 3) AS lost_ms, round(avg(instructions), 2) AS instructions
FROM counted JOIN codelets c USING (codelet)
WHERE equals >= 5 AND end_ns - start_ns > 4 * usual_ns
GROUP BY c.name, node ORDER BY lost_ms DESC LIMIT 20;
