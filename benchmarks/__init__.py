"""Benchmarks of leastnoise and its peers: ``python3 go bench``, or ``python -m benchmarks``.

    __main__       the command: runs the parts, writes results and pages
    plan           the size of a run: full, short or quick
    timing         interleaved rounds, medians and spread, ratios by round, slopes
    memory         the memory of a process
    machine        the machine and the versions of a run
    progress       progress messages
    peers/         other libraries, each in its own environment and process

Measurements, one file each:

    draws          noise for arrays and for single numbers, compared with numpy, AES and the peers
    accuracy       the cost of each library's best noise for a guarantee, and the lower bound
    distributions  E|X| and E X² of the peers' noise, by formula
    calibrations   the time of calibrations in closed form, comparisons and compositions
    many_answers   many counts under one guarantee, and units that are in many groups
    joint          joint noise: errors of k counts beside every peer's, and the time of sampling
    solves         certified solves over a grid of guarantees and costs
    starting       import and command line
    installing     megabytes by package
    growth         time and memory against n, 1/δ and m
    ledgers        the time of a charge, compared with fsync
    querying       table queries, compared with SQL and with OpenDP on Polars
    quantiles      rank errors of medians, compared with a textbook exponential mechanism
    people         the generated table for querying, and the queries
    query_process  runs one query in a child process, for its time and memory
    growth_process runs one release or solve in a child process, for its time and memory

Output:

    targets        the benchmark targets, and whether they are met
    formatting     numbers and tables as text
    tables/        results as tables
    pages          tables between the marks of README.md and docs/performance.md; results.md
    charts         results as figures
"""
