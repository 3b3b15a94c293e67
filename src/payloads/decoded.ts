import type { Client, Payload } from "@temporalio/client";

/**
 * What Temporal's API answered as it is (`raw` of a description, a history), with its payloads decoded by the client's
 * codecs, and the words of each failure in their place: they come as "Encoded failure" where they are encrypted. What has
 * nothing to decode is given on as it is: a history may have 25 MB.
 * @throws PayloadKeyError
 */
export async function decoded<T>({ options }: Pick<Client, "options">, answered: T): Promise<T> {
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  if (payloadCodecs.length === 0) return answered;
  const encoded: Payload[] = [];
  collectPayloads(answered, encoded);
  let payloads = encoded;
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  const byEncoded = new Map(encoded.map((one, at) => [one, payloads[at]]));
  const copied = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    if (isPayload(value)) return byEncoded.get(value) ?? value;
    if (Array.isArray(value)) {
      const parts = value.map(copied);
      return parts.some((part, at) => part !== value[at]) ? parts : value;
    }
    const changes = Object.entries(value).flatMap(([name, part]) => {
      const copy = copied(part);
      return copy === part ? [] : [[name, copy] as const];
    });
    const encodedWords = "encodedAttributes" in value ? byEncoded.get(value.encodedAttributes as Payload) : undefined;
    if (changes.length === 0 && !encodedWords) return value;
    // Messages have methods, and so have their whole numbers.
    const copy: object = Object.assign(Object.create(Object.getPrototypeOf(value) as object), value);
    for (const [name, part] of changes) Object.assign(copy, { [name]: part });
    if (!encodedWords) return copy;
    const words = payloadConverter.fromPayload<{ message?: unknown; stack_trace?: unknown }>(encodedWords);
    return Object.assign(copy, { message: words?.message, stackTrace: words?.stack_trace });
  };
  return copied(answered) as T;
}

function collectPayloads(value: unknown, found: Payload[]): void {
  if (!isObject(value)) return;
  if (isPayload(value)) found.push(value);
  else for (const part of Object.values(value)) collectPayloads(part, found);
}

/** Bytes have nothing in them. */
function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

function isPayload(value: object): value is Payload {
  const { metadata } = value as { metadata?: { encoding?: unknown } | null };
  return ArrayBuffer.isView(metadata?.encoding);
}
