"""What judges methods: metrics, evaluation, trials, data sets, benchmarks. Not part of the wheel."""
