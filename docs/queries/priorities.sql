-- Priorities: do urgent tasks wait shorter than others?
-- Tasks in ten classes, the most urgent first, with the time from being ready to being taken. A scheduler that follows
-- priorities makes it grow from class to class; `overtaken` counts those whose worker took, after this one was ready and before it
-- was taken, a task of lower priority. A solve after the factorization is left out: its priorities are in another unit.
WITH classes AS (
  SELECT *, ntile(10) OVER (ORDER BY priority DESC, task) AS class,
         lag(priority) OVER on_worker AS before_priority, lag(pop_ns) OVER on_worker AS before_pop_ns
  FROM tasks JOIN codelets USING (codelet) WHERE role <> 'solve'
  WINDOW on_worker AS (PARTITION BY worker ORDER BY pop_ns, task)
)
SELECT class, count(*) AS tasks, min(priority) AS from_priority, max(priority) AS to_priority,
       round(median(pop_ns - ready_ns) / 1e3, 1) AS median_wait_us,
       round(quantile_cont(pop_ns - ready_ns, 0.95) / 1e3, 1) AS wait_95_us,
       count(*) FILTER (before_priority < priority AND before_pop_ns > ready_ns) AS overtaken
FROM classes GROUP BY class ORDER BY class;
