-- Submission thread: are tasks slower while tasks are being submitted?
-- The run is cut into a thousand slices. A task's slowdown is its time over the median of its equals: same codelet, flops, block. If `beside` is well above `else_`, the thread that submits takes a processing unit, cache or memory bandwidth away from
-- the workers: submit less at once (`--window`), or leave a unit free (`--threads`).
WITH run AS (
  SELECT min(submit_ns) AS begin_ns, greatest(max(end_ns) - min(submit_ns), 1) / 1000.0 AS slice_ns FROM tasks
), bursts AS (
  SELECT floor((submit_ns - begin_ns) / slice_ns) AS slice, count(*) AS submitted
  FROM tasks, run GROUP BY slice
), slowdowns AS (
  SELECT codelet, floor((start_ns - begin_ns) / slice_ns) AS slice,
         (end_ns - start_ns) / greatest(median(end_ns - start_ns) OVER same, 1) AS slowdown
  FROM tasks, run WHERE flops > 0 WINDOW same AS (PARTITION BY codelet, flops, rows, cols, coefficients)
)
SELECT c.name AS codelet,
       count(*) FILTER (submitted > 0) AS tasks_beside,
       count(*) FILTER (submitted IS NULL) AS tasks_else,
       round(avg(slowdown) FILTER (submitted > 0), 2) AS beside,
       round(avg(slowdown) FILTER (submitted IS NULL), 2) AS else_
FROM slowdowns LEFT JOIN bursts USING (slice) JOIN codelets c USING (codelet)
GROUP BY c.name ORDER BY tasks_beside DESC;
