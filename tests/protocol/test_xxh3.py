"""XXH3, as the library that brokers use computed it (hash4j 0.22.0)."""

import pytest

from mockbroker.protocol.xxh3 import xxh3

MEASURED = {
    4: 330_396_430_461_541_434,
    8: 4_268_820_291_649_317_856,
    9: -692_023_762_850_826_293,
    16: 9_048_513_214_683_920_356,
    17: 9_021_578_923_543_107_484,
    64: -4_778_494_861_223_289_833,
    128: -7_336_584_588_440_872_852,
    129: 6_649_981_455_697_571_024,
    200: -352_765_964_556_141_271,
    240: 7_187_060_630_816_538_868,
    241: 7_970_929_161_853_010_609,
    256: 2_768_073_855_359_201_733,
    512: -5_490_351_119_354_220_367,
    1_000: 7_927_544_012_695_458_541,
    1_023: -2_756_118_333_070_799_703,
    1_024: -3_338_374_742_986_968_327,
    1_025: -5_382_812_832_229_016_916,
    1_088: 8_310_458_826_180_637_074,
    2_048: 6_448_292_239_516_336_217,
    2_049: 2_290_850_247_221_259_521,
    5_000: -1_870_978_228_319_276_920,
}
"""By size."""


@pytest.mark.parametrize("size", MEASURED)
def test_hashes_are_those_that_were_measured(size: int) -> None:
    data = bytes(at * 131 + (at >> 8) * 7 + size & 0xFF for at in range(size))
    assert xxh3(data) == MEASURED[size]


def test_too_few_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="3 bytes are too few"):
        xxh3(b"abc")
