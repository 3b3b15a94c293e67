"""Encrypts what Temporal keeps of a sale, by the keys of the workers (FISCALFLOW_PAYLOAD_KEYS).

The layout is that of Temporal's own samples; docs/payload-vectors.json has examples of it, which `python -m unittest`
checks. https://github.com/fiscalflow/fiscalflow/blob/main/docs/privacy.md#encrypting-what-temporal-keeps
"""

import base64
import os
from collections.abc import Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

ENCODING = b"binary/encrypted"
IV_BYTES = 12


class EncryptionCodec(PayloadCodec):
    """The first key encrypts, and all decrypt. A payload that is not encrypted is read as it is."""

    def __init__(self, keys: str) -> None:
        """Takes keys as `id:key,id:key`, each of 32 bytes in base64."""
        pairs = [pair.strip().split(":", 1) for pair in keys.split(",")]
        self._ciphers = {key_id: AESGCM(base64.b64decode(key, validate=True)) for key_id, key in pairs}
        self._first = pairs[0][0]

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._encrypted(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._decrypted(payload) for payload in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        iv = os.urandom(IV_BYTES)
        data = self._ciphers[self._first].encrypt(iv, payload.SerializeToString(), None)
        return Payload(metadata={"encoding": ENCODING, "encryption-key-id": self._first.encode()}, data=iv + data)

    def _decrypted(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            return payload
        key_id = payload.metadata["encryption-key-id"].decode()
        if key_id not in self._ciphers:
            raise ValueError(f'a payload is encrypted by the key "{key_id}", which FISCALFLOW_PAYLOAD_KEYS lacks')
        plain = self._ciphers[key_id].decrypt(payload.data[:IV_BYTES], payload.data[IV_BYTES:], None)
        return Payload.FromString(plain)
