import { invalidRequest } from "./api-error.ts";

type Values = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
  readonly #values: Values;
  readonly #at: string;
  readonly #read = new Set<string>();

  constructor(value: unknown, at = "") {
    if (!isObject(value)) throw invalidRequest(at === "" ? "The body" : at, "must be a JSON object");
    this.#values = value;
    this.#at = at;
  }

  #path(name: string): string {
    return this.#at === "" ? name : `${this.#at}.${name}`;
  }

  #take(name: string | null): unknown {
    if (name === null) return undefined;
    this.#read.add(name);
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  optionalText(name: string | null, maxLength: number): string | null {
    const value = this.#take(name);
    if (value === undefined || name === null) return null;
    if (typeof value !== "string") throw invalidRequest(this.#path(name), "must be a string");
    if (Array.from(value).length > maxLength)
      throw invalidRequest(this.#path(name), `must have at most ${maxLength} characters`);
    return value;
  }

  text(name: string, maxLength: number): string {
    const value = this.optionalText(name, maxLength);
    if (value === null || value === "") throw invalidRequest(this.#path(name), "is required");
    return value;
  }

  optionalDay(name: string | null): string | null {
    const value = this.optionalText(name, 40);
    if (name !== null && value !== null && !isCalendarDay(value))
      throw invalidRequest(this.#path(name), "must be a date written YYYY-MM-DD");
    return value;
  }

  day(name: string): string {
    const value = this.optionalDay(name);
    if (value === null) throw invalidRequest(this.#path(name), "is required");
    return value;
  }

  optionalAmount(name: string | null, rule: "at least 0" | "above 0"): number | null {
    const value = this.#take(name);
    if (value === undefined || name === null) return null;
    if (typeof value !== "number" || !Number.isFinite(value))
      throw invalidRequest(this.#path(name), "must be a number");
    if (value < 0 || (rule === "above 0" && value === 0)) throw invalidRequest(this.#path(name), `must be ${rule}`);
    return value;
  }

  amount(name: string, rule: "at least 0" | "above 0"): number {
    const value = this.optionalAmount(name, rule);
    if (value === null) throw invalidRequest(this.#path(name), "is required");
    return value;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.text(name, 100);
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw invalidRequest(this.#path(name), `must be one of ${allowed.join(", ")}`);
    return found;
  }

  flag(name: string | null): boolean {
    const value = this.#take(name);
    if (value === undefined || name === null) return false;
    if (typeof value !== "boolean") throw invalidRequest(this.#path(name), "must be true or false");
    return value;
  }

  optionalObject(name: string | null): RequestFields | null {
    const value = this.#take(name);
    return value === undefined || name === null ? null : new RequestFields(value, this.#path(name));
  }

  /** A list with at least one object in it. */
  objects(name: string): RequestFields[] {
    const value = this.#take(name);
    if (!Array.isArray(value) || value.length === 0)
      throw invalidRequest(this.#path(name), "must be a list with at least one entry");
    return value.map((entry: unknown, index) => new RequestFields(entry, `${this.#path(name)}[${index}]`));
  }

  /** Refuses what was not read, so that a client that uses another name is seen. */
  refuseOthers(refuse: boolean): void {
    if (!refuse) return;
    const unknown = Object.keys(this.#values).find((name) => !this.#read.has(name));
    if (unknown !== undefined) throw invalidRequest(this.#path(unknown), "is not a known field");
  }
}
