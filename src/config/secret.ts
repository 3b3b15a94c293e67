import { createHash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

const MASK = "[secret]";

/**
 * A value that is never shown: printing it, logging it, putting it in JSON or in a template all give `[secret]`. Only
 * `reveal()` gives the value, so that every place where a secret is used can be found by that word.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  equals(other: Secret): boolean {
    return timingSafeEqual(digest(this.#value), digest(other.#value));
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

function digest(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}
