/** What a display can show on one line: no control characters, no lone surrogates. */
const EVENT_PATTERN = /^\P{C}{1,64}$/u;

/**
 * The `event` of a callback's body, where the body is a JSON object with a string of 1 to 64 characters by that name.
 * The body of a callback is not shown in the documents and is not believed: this is for display only, and anything
 * else is undefined rather than an error.
 */
export function callbackEvent(body: Buffer): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null || !("event" in parsed)) return undefined;
  const { event } = parsed;
  return typeof event === "string" && EVENT_PATTERN.test(event) ? event : undefined;
}
