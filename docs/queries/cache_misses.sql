-- Cache misses: does a codelet run slower the more workers are busy, and with more misses?
-- The first columns need no counters: time per flop with few and with many workers in tasks (below and above the median at the
-- task's start). The last, where the module `counters` recorded misses: misses per thousand flops, and how they go with the
-- time per flop (1: they explain it).
WITH changes AS (
  SELECT start_ns AS time_ns, 1 AS change FROM tasks UNION ALL SELECT end_ns, -1 FROM tasks
), busy AS (
  SELECT time_ns, max(workers) AS workers FROM (
    SELECT time_ns, sum(change) OVER (ORDER BY time_ns, change ROWS UNBOUNDED PRECEDING) AS workers FROM changes
  ) GROUP BY time_ns
), misses AS (
  SELECT task, sum(value) AS misses FROM counters WHERE counter LIKE '%miss%' GROUP BY task
), all_tasks AS (
  SELECT t.codelet, (end_ns - start_ns) / flops AS ns_per_flop, misses / flops AS misses_per_flop, workers,
         median(workers) OVER () AS middle
  FROM tasks t JOIN busy b ON b.time_ns = t.start_ns LEFT JOIN misses USING (task)
  WHERE flops > 0
)
SELECT c.name AS codelet, count(*) AS tasks,
       round(median(ns_per_flop) FILTER (workers < middle), 3) AS ns_per_flop_few_busy,
       round(median(ns_per_flop) FILTER (workers >= middle), 3) AS ns_per_flop_many_busy,
       round(1000 * avg(misses_per_flop), 3) AS misses_per_kflop,
       round(corr(ns_per_flop, misses_per_flop), 2) AS correlation
FROM all_tasks JOIN codelets c USING (codelet)
GROUP BY c.name ORDER BY tasks DESC;
