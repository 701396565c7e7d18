#!/usr/bin/python3
"""Writes peptides that a mass spectrometer might see, and others, as two idXML files."""
import random
import sys

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<IdXML version="1.5">
<SearchParameters id="SP_0" db="" db_version="" taxonomy="" mass_type="monoisotopic" charges="" enzyme="trypsin" missed_cleavages="0" precursor_peak_tolerance="0" peak_mass_tolerance="0"/>
<IdentificationRun date="2020-01-01T00:00:00" search_engine="none" search_engine_version="1" search_parameters_ref="SP_0">
<ProteinIdentification score_type="score" higher_score_better="true" significance_threshold="0"/>
"""
PEPTIDE = """<PeptideIdentification score_type="score" higher_score_better="true" significance_threshold="0" MZ="{}" RT="{}">
<PeptideHit score="1" sequence="{}" charge="2"/>
</PeptideIdentification>
"""


def write(path, letters, seed):
    rng = random.Random(seed)
    with open(path, "w") as file:
        file.write(HEAD)
        for i in range(40):
            word = "".join(rng.choice(letters) for _ in range(rng.randint(8, 16))) + "K"
            file.write(PEPTIDE.format(500 + i, i, word))
        file.write("</IdentificationRun>\n</IdXML>\n")


write(sys.argv[1], "AVLIPFAVLIPFDEST", 1)
write(sys.argv[2], "DESTNQGCDESTNQGAVL", 2)
