/** A refusal: of the Compliance API in the document's shape `{error: {code, message, ...extras}}`. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    extras: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.extras = extras;
    this.headers = headers;
  }
}

export function invalidRequest(field: string, problem: string, extras: Record<string, unknown> = {}): ApiError {
  const errors = [{ field, message: problem }];
  return new ApiError(400, "invalid_request", `${field} ${problem}`, { errors, ...extras });
}

export function notFound(what: string): ApiError {
  return new ApiError(404, "not_found", `${what} not found`);
}

export function forbidden(message: string): ApiError {
  return new ApiError(403, "forbidden", message);
}

/** True for a day that exists, written YYYY-MM-DD. */
export function isCalendarDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/**
 * Reads the fields of one request object under the names of the dialect and refuses the first wrong one with 400
 * `invalid_request`. A name of null is a field that the dialect does not send: it reads as absent.
 */
export class RequestFields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #at: string;
  readonly #read = new Set<string>();
  readonly #inner: RequestFields[] = [];

  constructor(value: unknown, at = "") {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw invalidRequest(at === "" ? "The body" : at, "must be a JSON object");
    this.#values = { ...value };
    this.#at = at;
  }

  optionalText(name: string | null, maxLength: number): string | null {
    const value = this.#take(name);
    if (value === undefined || name === null) return null;
    if (typeof value !== "string") throw this.#refusal(name, "must be a string");
    if (Array.from(value).length > maxLength) throw this.#refusal(name, `must have at most ${maxLength} characters`);
    return value;
  }

  text(name: string, maxLength: number): string {
    return this.#required(name, this.optionalText(name, maxLength) || null);
  }

  optionalDay(name: string | null): string | null {
    const value = this.optionalText(name, 40);
    if (name !== null && value !== null && !isCalendarDay(value))
      throw this.#refusal(name, "must be a date written YYYY-MM-DD");
    return value;
  }

  day(name: string): string {
    return this.#required(name, this.optionalDay(name));
  }

  optionalAmount(name: string | null, rule: "at least 0" | "above 0"): number | null {
    const value = this.#take(name);
    if (value === undefined || name === null) return null;
    if (typeof value !== "number" || !Number.isFinite(value)) throw this.#refusal(name, "must be a number");
    if (value < 0 || (rule === "above 0" && value === 0)) throw this.#refusal(name, `must be ${rule}`);
    return value;
  }

  amount(name: string, rule: "at least 0" | "above 0"): number {
    return this.#required(name, this.optionalAmount(name, rule));
  }

  /** Of a query, where a number is text. */
  optionalWholeNumber(name: string | null, least: number, most: number): number | null {
    const value = this.optionalText(name, 15);
    if (value === null || name === null) return null;
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw this.#refusal(name, `must be a whole number from ${least} to ${most}`);
  }

  optionalOneOf<T extends string>(name: string | null, allowed: readonly T[]): T | null {
    const value = this.optionalText(name, 100);
    if (value === null || name === null) return null;
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw this.#refusal(name, `must be one of ${allowed.join(", ")}`);
    return found;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    return this.#required(name, this.optionalOneOf(name, allowed));
  }

  flag(name: string | null): boolean {
    const value = this.#take(name);
    if (value === undefined || name === null) return false;
    if (typeof value !== "boolean") throw this.#refusal(name, "must be true or false");
    return value;
  }

  optionalObject(name: string | null): RequestFields | null {
    const value = this.#take(name);
    return value === undefined || name === null ? null : this.#within(value, name);
  }

  /** A list with at least one object in it. */
  objects(name: string): RequestFields[] {
    const value = this.#take(name);
    if (!Array.isArray(value) || value.length === 0)
      throw this.#refusal(name, "must be a list with at least one entry");
    return value.map((entry: unknown, index) => this.#within(entry, `${name}[${index}]`));
  }

  /** Refuses what was not read, here and within, so that a client that uses another name is seen. */
  refuseOthers(): void {
    const unknown = Object.keys(this.#values).find((name) => !this.#read.has(name));
    if (unknown !== undefined) throw this.#refusal(unknown, "is not a known field");
    for (const fields of this.#inner) fields.refuseOthers();
  }

  #take(name: string | null): unknown {
    if (name === null) return undefined;
    this.#read.add(name);
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  #within(value: unknown, name: string): RequestFields {
    const fields = new RequestFields(value, this.#path(name));
    this.#inner.push(fields);
    return fields;
  }

  #required<T>(name: string, value: T | null): T {
    if (value === null) throw this.#refusal(name, "is required");
    return value;
  }

  #refusal(name: string, problem: string): ApiError {
    return invalidRequest(this.#path(name), problem);
  }

  #path(name: string): string {
    return this.#at === "" ? name : `${this.#at}.${name}`;
  }
}
