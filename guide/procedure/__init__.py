"""What is done, what comes next, what went wrong: pure logic over step numbers and times."""
