import type { Client, Payload } from "@temporalio/client";

/**
 * What Temporal's API answered as it is (`raw` of a description, a history), with its payloads decoded by the client's
 * codecs, and the words of each failure in their place: they come as "Encoded failure" where they are encrypted.
 * @throws PayloadKeyError
 */
export async function decoded<T>({ options }: Pick<Client, "options">, answered: T): Promise<T> {
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  if (payloadCodecs.length === 0) return answered;
  const decode = async (payload: Payload): Promise<Payload> => {
    let payloads = [payload];
    for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
    return payloads[0] ?? payload;
  };
  const walk = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return await Promise.all(value.map(walk));
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
    if (isPayload(value)) return await decode(value);
    const parts = await Promise.all(Object.entries(value).map(async ([name, part]) => [name, await walk(part)]));
    // Messages have methods, and so have their whole numbers.
    const copy: object = Object.assign(
      Object.create(Object.getPrototypeOf(value) as object),
      Object.fromEntries(parts),
    );
    if (!("encodedAttributes" in copy) || !isPayload(copy.encodedAttributes)) return copy;
    const words = payloadConverter.fromPayload<{ message?: unknown; stack_trace?: unknown }>(copy.encodedAttributes);
    return Object.assign(copy, { message: words?.message, stackTrace: words?.stack_trace });
  };
  return (await walk(answered)) as T;
}

function isPayload(value: unknown): value is Payload {
  const { metadata } = Object(value) as { metadata?: { encoding?: unknown } | null };
  return ArrayBuffer.isView(metadata?.encoding);
}
