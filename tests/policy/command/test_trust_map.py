from __future__ import annotations


def test_the_map_takes_the_place_of_the_findings(run, save, unversioned):
    save("t.json", unversioned)
    ran = run("t.json", "--trust-map")
    assert ran.code == 0
    assert ran.out.startswith("Who can run code on the training nodes?\n")
    assert "BucketVersioning" not in ran.out


def test_the_map_is_for_programs_as_well(run, save, folder, template):
    save("t.json", template)
    found = run("t.json", "--trust-map", "-f", "json").json
    assert found["counts"]["yes"] > 0
    assert run("t.json", "--trust-map", "-f", "json", "-o", "map.json").out == ""
    assert (folder / "map.json").read_text() == run("t.json", "--trust-map", "-f", "json").out


def test_a_bucket_that_a_user_names_is_on_the_map(run, save, template):
    template["Resources"]["Weights"] = {"Type": "AWS::S3::Bucket"}
    save("t.json", template)
    assert "Weights" not in run("t.json", "--trust-map").out
    assert "checkpoint bucket Weights" in run("t.json", "--trust-map", "--checkpoint-bucket", "Weights").out
