"""The results as Markdown.

Takes what is kept in JSON with its summaries, gives text. Knows no files.
"""

SOLVERS = {"spqr": "SuiteSparseQR", "mkl": "MKL"}


def seconds(value):
    if value is None:
        return "–"
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}" if value < 1.0 else f"{value:.2f}" if value < 100.0 else f"{value:.0f}"


def spread(figures):
    """Median and, where there are several runs, the range."""
    if figures is None:
        return "–"
    text = seconds(figures["median"])
    if figures["runs"] > 1:
        text += f" ({seconds(figures['min'])} – {seconds(figures['max'])})"
    return text


def ratio(value):
    return "–" if value is None else f"**{value:.2f}**"


def part(told):
    if told.get("gflops") is None:
        return "–"
    text = f"{told['gflops']:.1f}" if told["gflops"] < 10.0 else f"{told['gflops']:.0f}"
    return text + (f" ({100 * told['part_of_peak']:.0f} %)" if told.get("part_of_peak") else "")


def megabytes(figures):
    return "–" if figures is None else f"{figures['median'] / 1e6:.0f}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows, left=1):
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join([row(head), row(rule), *map(row, rows)])


def cell(settings, name, key, mine):
    """A peer's figure with the setting that gave it, a mark where something is said of the answer, and the number of its runs where
    treeqr had another one."""
    told = settings[name]
    mark = " †" if told["remarks"] else ""
    runs = "" if mine and settings[mine]["runs"] == told["runs"] else ", once" if told["runs"] == 1 else f", {told['runs']} runs"
    return f"{spread(told[key])}{mark}, {told['short']}{runs}"


def failures(settings, solver):
    """What to say of a peer that gave no answer in any setting."""
    own = [told for told in settings.values() if told["solver"] == solver]
    if not own:
        return "not run"
    said = [remark for told in own for remark in told["remarks"]]
    if any(remark.startswith("stopped") for remark in said):
        return "stopped, too slow"
    if any("not finite" in remark for remark in said):
        return "x not finite"
    return "failed" if said else "–"


def peer(settings, best, solver, key):
    name = best[key]["by_solver"].get(solver)
    return cell(settings, name, key, best["treeqr"]) if name else failures(settings, solver)


def size(result):
    return f"{result['rows']} x {result['cols']}"


def with_ours(results, kind):
    for result in results:
        summary = result["summary"]
        best = summary["best"][kind]
        yield result, summary["settings"], best, best["treeqr"]


def total_table(results, kind="any"):
    rows = []
    for result, settings, best, mine in with_ours(results, kind):
        if mine is None and kind == "h":
            continue
        rows.append(
            [
                result["name"],
                size(result),
                spread(settings[mine]["total_s"]) if mine else "failed",
                str(settings[mine]["total_s"]["runs"]) if mine else "–",
                *(peer(settings, best, solver, "total_s") for solver in SOLVERS),
                ratio(best["total_s"]["ratio"]),
            ]
        )
    return table(["matrix", "size", "treeqr", "runs", *SOLVERS.values(), "best peer / treeqr"], rows) if rows else ""


def factorize_table(results, kind="any"):
    rows = []
    for result, settings, best, mine in with_ours(results, kind):
        if mine is None and kind == "h":
            continue
        own = settings[mine] if mine else {}
        spqr = best["factorize_s"]["by_solver"].get("spqr")
        rows.append(
            [
                result["name"],
                f"{own['flops']:.2e}" if own.get("flops") else "–",
                spread(own.get("factorize_s")),
                part(own),
                peer(settings, best, "spqr", "factorize_s"),
                f"{settings[spqr]['flops']:.2e}" if spqr and settings[spqr].get("flops") else "–",
                part(settings[spqr]) if spqr else "–",
                peer(settings, best, "mkl", "factorize_s"),
                ratio(best["factorize_s"]["ratio"]),
            ]
        )
    head = ["matrix", "flops", "treeqr", "GFlop/s", "SuiteSparseQR", "its flops", "its GFlop/s", "MKL", "best peer / treeqr"]
    return table(head, rows) if rows else ""


def least_memory(settings, solver, keeps_h):
    """Of the settings of a solver that gave an answer; `None` where it has none."""
    own = [t for t in settings.values() if t["solver"] == solver and t["keeps_h"] == keeps_h and t["answered"]]
    figures = [t["peak_rss_bytes"] for t in own if t.get("peak_rss_bytes")]
    return min(figures, key=lambda f: f["median"], default=None)


def memory_table(results):
    rows = []
    for result in results:
        settings = result["summary"]["settings"]
        ours_and_theirs = [(s, h) for h in (False, True) for s in ("treeqr", "spqr")]
        rows.append([result["name"], *(megabytes(least_memory(settings, s, h)) for s, h in [*ours_and_theirs, ("mkl", True)])])
    head = ["matrix", "treeqr, x only", "SuiteSparseQR, x only", "treeqr, H kept", "SuiteSparseQR, H kept", "MKL"]
    return table(head, rows)


def memory_beside(settings, keeps_h):
    """treeqr's megabytes and those of the peer that takes least."""
    mine = least_memory(settings, "treeqr", keeps_h)
    peers = [least_memory(settings, solver, keeps_h) for solver in SOLVERS]
    theirs = min((figures for figures in peers if figures), key=lambda f: f["median"], default=None)
    return f"{megabytes(mine)} / {megabytes(theirs)}" if mine and theirs else "–"


def overview_table(results):
    """How many times as fast as the best peer: a line for each matrix, what a reader wants first."""
    rows = []
    for result in results:
        settings, kinds = result["summary"]["settings"], result["summary"]["best"]
        mine = kinds["any"]["treeqr"]
        share = settings[mine].get("part_of_peak") if mine else None
        times = [ratio(kinds[kind][key]["ratio"]) for kind in ("any", "h") for key in ("total_s", "factorize_s")]
        memory = [memory_beside(settings, keeps_h) for keeps_h in (False, True)]
        rows.append([result["name"], *times[:2], f"{100 * share:.0f} %" if share else "–", *times[2:], *memory])
    head = ["matrix", "total", "factorization", "of dgemm's peak", "H kept by all: total", "factorization", "MB, x only", "MB, H kept"]
    return table(head, rows)


def answer_lines(results):
    """A line for each matrix where something is to be said of an answer: of the settings in the tables and of our own."""
    out = []
    for result in results:
        settings = result["summary"]["settings"]
        shown = {n for n, t in settings.items() if t["solver"] == "treeqr" or t["repeated"]}
        for best in result["summary"]["best"].values():
            for key in ("total_s", "factorize_s"):
                shown.update(best[key]["by_solver"].values())
        said = {}
        for name in sorted(n for n in shown if n and settings[n]["remarks"]):
            told = settings[name]
            text = "; ".join(told["remarks"])
            said.setdefault((SOLVERS.get(told["solver"], "treeqr"), text), []).append(told["short"])
        if said:
            parts = [f"{solver} ({' / '.join(which)}): {text}" for (solver, text), which in said.items()]
            out.append(f"* {result['name']}: {'. '.join(parts)}.")
    return "\n".join(out)


def report(data):
    """The whole: machine, peaks, tables, answers."""
    machine, peaks, results = data["machine"], data["peaks"], data["matrices"]
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items() if version)
    products = ", ".join(
        f"{'OpenBLAS' if p['blas'] == 'openblas' else 'MKL'} {p['best']:.0f} on {p['threads']}" for p in peaks["products"] if "best" in p
    )
    l3 = next((c["size"] for c in machine["caches"] if c["level"] == 3), "no")
    peak = peaks["peak_gflops"]
    lines = [
        f"{data['start']['time'][:10]}. {machine['cpu']} (family/model {machine['cpu_family_model']}), {machine['cores']} cores"
        f"{', virtual' if machine['virtual'] else ''}, L3 {l3}, {machine['memory_bytes'] / 1e9:.0f} GB of memory, {machine['os']}."
        f" Load {data['start']['load'][0]:.2f} at the start, {data['end']['load'][0]:.2f} at the end.",
        f"Versions: {versions}.",
        f"dgemm, GFlop/s: {products}; OpenBLAS core type: {peaks['openblas_core_type']}."
        + (f" Parts of peak are of {peak['all']:.0f} GFlop/s." if peak["all"] else ""),
    ]
    if data["disturbances"]:
        lines.append(f"**Not quiet**: {'; '.join(data['disturbances'])}.")
    lines += [
        "Seconds, medians and (least – most) of runs in turns; `once`, `n runs`: where it was run another number of times than treeqr. Settings: the ordering; H"
        " kept or x only; threads of the BLAS; M with MKL's BLAS, N without rank detection. †: see Answers.",
    ]
    kept = any(t["keeps_h"] and t["solver"] == "treeqr" for r in results if not r["wide"] for t in r["summary"]["settings"].values())
    if not kept:
        lines.append("treeqr with H kept was run only on wide matrices.")
    blocks = ["\n".join(lines)]
    parts = [
        ("The best peer's time over treeqr's; memory, treeqr / the peer that takes least", overview_table(results)),
        ("Time to solution: read, analyse, factorize, solve", total_table(results)),
        ("The factorization", factorize_table(results)),
        ("H kept by all: time to solution", total_table(results, "h") if kept else ""),
        ("H kept by all: the factorization", factorize_table(results, "h") if kept else ""),
        ("Peak memory of the process, MB, least of the settings run", memory_table(results)),
        ("Answers", answer_lines(results)),
        ("Left out", "\n".join(f"* {said}" for said in data["missing"])),
    ]
    blocks += [f"### {title}\n\n{text}" for title, text in parts if text]
    return "\n\n".join(blocks) + "\n"
