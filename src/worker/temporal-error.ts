/** Temporal cannot be used as it is; the message says what to do about it. */
export class TemporalError extends Error {
  override readonly name = "TemporalError";
  readonly code: "unreachable" | "refused" | "no-namespace" | "no-search-attributes";

  constructor(code: TemporalError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
