import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { DataConverter, Payload } from "@temporalio/client";
import proto from "@temporalio/proto";

import { payloadKeys } from "./keys.ts";

type PayloadCodec = NonNullable<DataConverter["payloadCodecs"]>[number];

const PayloadMessage = proto.temporal.api.common.v1.Payload;
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Of the metadata. */
const ENCODING = "binary/encrypted";
const KEY_ID = "encryption-key-id";

/** Whether a payload could not be read, as one that is encrypted by a key which this process lacks, or has otherwise. */
export function isUndecodable(error: unknown): boolean {
  return error instanceof PayloadKeyError || (error instanceof Error && error.name === "ValueError");
}

/** A payload is encrypted by a key that this process does not have. */
class PayloadKeyError extends Error {
  override readonly name = "PayloadKeyError";

  constructor(id: string, known: Iterable<string>) {
    const has = [...known].map((one) => `"${one}"`).join(", ") || "none";
    super(
      `A payload is encrypted by the key "${id}"; FISCALFLOW_PAYLOAD_KEYS has ${has}. Add that key behind the first.`,
    );
  }
}

/**
 * Encrypts payloads by AES-256-GCM in the layout of Temporal's samples (`encryption` of samples-typescript, samples-go
 * and others): `data` is a 12-byte IV, the encrypted Payload message with its metadata, and the 16-byte tag.
 * `docs/payload-vectors.json` has examples. What is not encrypted is read as it is.
 * @param keys `id:key`, each key 32 bytes in base64: the first encrypts, all decrypt; without any, nothing is encrypted
 * @throws Error where a key is written wrongly
 */
export function createPayloadCodec(keys: readonly string[]): PayloadCodec {
  const byId = payloadKeys(keys);
  const [first] = byId;
  return {
    encode: async (payloads) => (first ? payloads.map((payload) => encrypted(payload, ...first)) : payloads),
    decode: async (payloads) =>
      payloads.map((payload) => {
        const id = keyIdOf(payload);
        if (id === undefined) return payload;
        const key = byId.get(id);
        // Another worker may have it: to go on without would make the two decide differently about one history.
        if (key === undefined) throw new PayloadKeyError(id, byId.keys());
        return decrypted(payload, key) ?? payload;
      }),
  };
}

/** Of every client and worker, also without keys. @param keys as those of {@link createPayloadCodec} */
export function dataConverterOf(keys: readonly { reveal: () => string }[]): DataConverter {
  return { payloadCodecs: [createPayloadCodec(keys.map((key) => key.reveal()))] };
}

/** The key by which a payload is encrypted; undefined for one that is not. */
export function keyIdOf({ metadata }: Payload): string | undefined {
  const textOf = (name: string): string | undefined => metadata?.[name] && Buffer.from(metadata[name]).toString();
  return textOf("encoding") === ENCODING ? textOf(KEY_ID) : undefined;
}

function encrypted(payload: Payload, keyId: string, key: Buffer): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const data = Buffer.concat([
    iv,
    cipher.update(PayloadMessage.encode(payload).finish()),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return { metadata: { encoding: Buffer.from(ENCODING), [KEY_ID]: Buffer.from(keyId) }, data };
}

/**
 * Undefined for what this key has not encrypted, or somebody has changed since: the payload stays as it is, which the
 * converter takes for one that cannot be read. With the key, every process finds the same.
 */
function decrypted({ data }: Payload, key: Buffer): Payload | undefined {
  if (!data || data.length < IV_BYTES + TAG_BYTES) return undefined;
  const end = data.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, data.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(data.subarray(end));
  try {
    return PayloadMessage.decode(Buffer.concat([decipher.update(data.subarray(IV_BYTES, end)), decipher.final()]));
  } catch {
    return undefined;
  }
}
