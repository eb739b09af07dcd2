import json

from tests.captures.slice.three_steps import three_steps, written


def test_steps_of_a_file(call, tmp_path):
    source, target = written(three_steps(), tmp_path), tmp_path / "part.xplane.pb"
    result = call("slice", source, "--steps", "4:5", "-o", target)
    assert result.exit_code == 0, result.stderr
    first, steps, last = result.stdout.splitlines()
    assert first.startswith(f"{target}: 10 of 15 events, ")
    assert (steps, last) == ("2 steps: train 4 to train 5", f"next: tfprof tools {target}")
    assert call(*last.split()[2:]).exit_code == 0
    assert "exists already; --force" in call("slice", source, "-o", target).stderr
    assert call("slice", source, "--steps", "4", "-o", target, "--force").exit_code == 0


def test_a_folder_and_json(call, tmp_path):
    source = written(three_steps(), tmp_path)
    words = ["--time", "0s:1s", "-o", tmp_path / "small", "--format", "json"]
    data = json.loads(call("slice", source, *words).stdout)
    assert data["rows"][0]["path"].endswith("plugins/profile/slice/worker0.xplane.pb")
    assert call(*data["next"].split()[1:]).exit_code == 0


def test_mistakes(call, tmp_path):
    source, target = written(three_steps(), tmp_path), tmp_path / "part.xplane.pb"
    for words, said in (
        (["--steps", "4:9"], "no step 9 in this run; it has: 3, 4, 5"),
        (["--steps", "a:b"], "option --steps: 'a' is not the number of a step"),
        (["--steps", ":"], "write it as 10:20"),
        (["--time", "1s"], "write both ends, as 1.2s:1.5s"),
        (["--device", "("], "is not a regular expression"),
    ):
        result = call("slice", source, *words, "-o", target)
        assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert not target.exists()
