import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";

import { UnreadableAnswerError } from "./errors.ts";

const CHUNKS = { chunkSize: 64 * 1024 };

/** By the first byte of the body. */
const DECODERS: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(CHUNKS),
  "x-gzip": () => createGunzip(CHUNKS),
  // RFC 9110 means the form with zlib's header, and some servers send the one without.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate(CHUNKS) : createInflateRaw(CHUNKS)),
  br: () => createBrotliDecompress(CHUNKS),
};

/**
 * The body as it was before its `Content-Encoding`, piece by piece: no more is decoded than is asked for. Nothing is
 * asked to be encoded, but a gateway may do so all the same.
 *
 * @throws UnreadableAnswerError; zlib's errors, which have a `code`
 */
export async function* decoded(body: Readable, contentEncoding: string | undefined): AsyncGenerator<Buffer> {
  const encoding = (contentEncoding ?? "").trim().toLowerCase();
  const pieces = body as AsyncIterable<Buffer>;
  if (encoding === "" || encoding === "identity") {
    yield* pieces;
    return;
  }
  const source = pieces[Symbol.asyncIterator]();
  const first = await source.next();
  // An answer without a body is not encoded, whatever its header says.
  if (first.done === true) return;
  const open = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (!open) {
    body.destroy();
    throw new UnreadableAnswerError(whyUnknown(encoding));
  }
  const decoder = open(first.value[0] ?? 0);
  // Whoever reads the decoder is told of every error.
  pipeline(Readable.from(joined(first.value, source)), decoder, () => {});
  yield* decoder as AsyncIterable<Buffer>;
}

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function whyUnknown(encoding: string): string {
  if (!/^[a-z0-9.+-]{1,20}(, ?[a-z0-9.+-]{1,20}){0,4}$/.test(encoding))
    return "the answer is encoded in a way that is not known here";
  return encoding.includes(",")
    ? `the answer is encoded more than once (${encoding})`
    : `the answer is encoded as ${encoding}, which is not known here`;
}
