/**
 * As PostgreSQL gives it back, so that what is hashed now is what is read later: halves of characters become U+FFFD on
 * the way, and zero characters, of which it keeps none, go.
 */
export function storableText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8").replaceAll("\0", "");
}

/** The same for every text of a JSON value: the database reads nothing out of one that has others. */
export function storableJson<Value>(value: Value): Value {
  return cleaned(value) as Value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [storableText(name), cleaned(part)]));
}
