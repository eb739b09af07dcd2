import json

import tfprof
from tfprof.demo import demo_capture


def test_the_command(call, tmp_path):
    capture = demo_capture("input-bound")
    text = call("whatif", capture, "--free", "input", "--top", "3")
    assert text.exit_code == 0 and "A step would take" in text.stdout
    data = json.loads(call("whatif", capture, "--format", "json").stdout)
    assert data["tool"] == "whatif" and set(data["tables"]) == {"step", "path", "path_ops"}
    assert call("whatif", capture, "--format", "csv").stdout.startswith("step,before_ms,after_ms")
    page = tmp_path / "whatif.html"
    assert call("whatif", capture, "-o", page).exit_code == 0
    assert "critical path" in page.read_text("utf-8")
    for words in (["--faster", "Conv2D"], ["--faster", "=2"], ["--free", "nothing_like_it"]):
        assert call("whatif", capture, *words).exit_code == 2


def test_a_profile_is_refused(call):
    result = call("whatif", tfprof.demo_files().run_meta)
    assert result.exit_code == 3 and "tfprof whatif reads captures" in result.stderr
