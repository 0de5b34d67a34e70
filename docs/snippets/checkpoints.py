"""Save and resume in a directory, with a key that only this user can read."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hyperpod_lifecycle.training.checkpoints import Checkpoints
from hyperpod_lifecycle.training.signing_keys import LocalKey

with TemporaryDirectory() as folder:
    key = LocalKey.generate(Path(folder, "signing-key"))
    checkpoints = Checkpoints(Path(folder, "run42"), key=key, run="run42", keep=3)

    newest = checkpoints.latest_complete()
    first = 0 if newest is None else newest.step + 1
    for step in range(first, 20):
        if step % 10 == 9:
            with checkpoints.begin(step) as writer:
                (writer.directory / "rank-0.pt").write_bytes(b"what torch.save writes")
                writer.commit({"samples_seen": (step + 1) * 512})

    newest = checkpoints.latest_complete()
    assert newest is not None
    with checkpoints.verified(newest) as verified, verified.open("rank-0.pt") as stream:
        print(f"goes on after step {newest.step}: {newest.metadata}, {len(stream.read())} bytes")
