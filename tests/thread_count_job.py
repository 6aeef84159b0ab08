"""A job that reports its process and thread counts, for other processes to import."""

from __future__ import annotations

import os
from dataclasses import dataclass

import cv2
import torch

from offline.study.keep import Plain


@dataclass(frozen=True)
class ThreadCountJob:
    """Its row names the process and how many threads each library has there."""

    key: str
    title: str = "thread counts"

    def run(self) -> list[Plain]:
        threads = (torch.get_num_threads(), cv2.getNumThreads(), os.environ.get("OPENBLAS_NUM_THREADS"))
        return [{"process": os.getpid(), "threads": str(threads)}]
