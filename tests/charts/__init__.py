"""Tests of the charts. A package, so that file names may repeat in other rooms' tests."""
