import { defaultPayloadConverter, type Payload, type PayloadConverter } from "@temporalio/common";

/** Stands for a payload that nothing can read: of another encoding than JSON, encrypted, or no JSON after all. */
export class UnreadablePayload {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Of a message's content, an input or a result: why it cannot be read, as a sentence; undefined where it can. */
export function whyUnreadable(what: string, value: unknown): string | undefined {
  if (!(value instanceof UnreadablePayload)) return undefined;
  return `The ${what} cannot be read (${value.reason}). Expected one JSON object, with the encoding json/plain.`;
}

/**
 * That of the workflows. The SDK's own throws upon a payload that it cannot read, which fails the workflow task, and
 * does so again in each replay: one such signal would stop its run for ever. Whoever takes a value looks at it here.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(payload: Payload, ...more: [context?: object, hint?: never]): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload, ...(more as []));
    } catch (error) {
      return new UnreadablePayload(reasonOf(payload, error)) as T;
    }
  },
};

/** The SDK's words where they say something, and nothing of the payload: it may hold a customer's data. */
function reasonOf({ metadata }: Payload, error: unknown): string {
  if (!metadata?.["encoding"]) return "it has no encoding";
  const message = error instanceof Error ? error.message : "";
  return message.startsWith("Unknown encoding") ? message.slice(0, MOST_WORDS) : "it is not JSON";
}

const MOST_WORDS = 100;
