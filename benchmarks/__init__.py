"""Measured beside its peers: ``python3 go bench``, or ``python -m benchmarks`` in .venv.

    __main__       the command: runs the parts, writes results and pages
    plan           how much is measured: in full, in short, quickly
    timing         interleaved rounds, medians and spread, ratios round by round, slopes
    memory         how much of it a process holds
    machine        what it was measured on and with
    progress       what a run says while it runs
    peers/         other libraries, each in an environment and a process of its own

What is measured, a file each:

    draws          noise for arrays and for single numbers, beside numpy, AES and the peers
    accuracy       what each library's best noise for a promise costs, beside what is proved least
    laws           E|X| and E X² of the peers' noises, by formula
    calibrations   how long a question takes that has a closed form
    solves         certified solves over a grid of promises and costs
    starting       import and command line
    installing     megabytes, package by package
    growth         time and memory against n, 1/δ and m
    ledgers        what a charge costs, beside the disk's own fsync
    querying       tables asked, beside the same in SQL and beside OpenDP with Polars
    quantiles      rank errors of medians, beside a textbook exponential mechanism
    people         the table that is asked, and what is asked of it
    asked          the child process that asks, whose time and memory are measured
    growing        the child process whose time and memory are measured

What is shown of it:

    bars           what is asked of the numbers, and whether they meet it
    words          numbers and tables as text
    tables         results as tables
    pages          tables between the marks of README.md and docs/performance.md; results.md
    pictures       results as charts
"""
