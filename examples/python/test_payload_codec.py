"""Whether this codec reads what the workers write: `python -m unittest`."""

import base64
import json
import unittest
from pathlib import Path

from temporalio.api.common.v1 import Payload

from payload_codec import EncryptionCodec

VECTORS = json.loads((Path(__file__).parents[2] / "docs/payload-vectors.json").read_text("utf-8"))["vectors"]


def payload(written: dict, data: bytes) -> Payload:
    return Payload(metadata={name: text.encode() for name, text in written["metadata"].items()}, data=data)


class PublishedExamples(unittest.IsolatedAsyncioTestCase):
    async def test_all_are_read(self) -> None:
        self.assertGreater(len(VECTORS), 0)
        for vector in VECTORS:
            with self.subTest(vector["what"]):
                plain = payload(vector["payload"], vector["payload"]["data"].encode())
                encrypted = payload(vector["encrypted"], base64.b64decode(vector["encrypted"]["data"]))
                codec = EncryptionCodec(vector["key"])
                self.assertEqual(await codec.decode([encrypted, plain]), [plain, plain])
                [written] = await codec.encode([plain])
                self.assertEqual(written.metadata, encrypted.metadata)
                self.assertEqual(await codec.decode([written]), [plain])

    async def test_an_unknown_key_is_named(self) -> None:
        one, other = EncryptionCodec(VECTORS[0]["key"]), EncryptionCodec(VECTORS[2]["key"])
        with self.assertRaisesRegex(ValueError, '"2026"'):
            await other.decode(await one.encode([Payload()]))
