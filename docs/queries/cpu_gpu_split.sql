-- CPU/GPU split: which kind of worker ran what, how fast, and what did it move?
-- Tasks and speed of each codelet by kind of worker; a codelet that is fast on the device and mostly run elsewhere, or the other
-- way round, is placed badly. The bytes that were moved to and from devices are in the last rows.
SELECT * FROM (
SELECT w.kind, c.name AS what, count(*) AS count,
       round(sum(end_ns - t.start_ns) / 1e6, 3) AS ms,
       round(sum(flops) / greatest(sum(end_ns - t.start_ns), 1), 3) AS gflop_per_s,
       round(sum(flops) / greatest(sum(sum(flops)) OVER (PARTITION BY c.name), 1), 4) AS part_of_flops,
       NULL::HUGEINT AS bytes
FROM (SELECT * FROM tasks) t JOIN codelets c USING (codelet)
JOIN (SELECT worker, kind FROM workers) w USING (worker)
GROUP BY w.kind, c.name
UNION ALL
SELECT 'transfer', reason, count(*), round(sum(end_ns - start_ns) / 1e6, 3), NULL, NULL, sum(bytes)
FROM transfers GROUP BY reason
)
ORDER BY kind = 'transfer', what, kind;
