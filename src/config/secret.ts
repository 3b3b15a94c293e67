import { createHash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

const MASK = "[secret]";

/** Where a secret was read that may change while the process runs. */
export interface SecretFile {
  /** Absolute. */
  path: string;
  /** Why another value cannot take this one's place, without showing either; undefined where it can. */
  problemOf: (value: string, before: string) => string | undefined;
}

/**
 * A value that is never shown: printing it, logging it, putting it in JSON or in a template all give `[secret]`. Only
 * `reveal()` gives the value, so that every place where a secret is used can be found by that word. Reveal it anew for
 * each use: one that was read from a file changes when the file does.
 */
export class Secret {
  #value: string;
  #version = 1;
  readonly #file: SecretFile | undefined;

  constructor(value: string, file?: SecretFile) {
    this.#value = value;
    this.#file = file;
  }

  /** Undefined: the value stays for the life of the process. */
  get file(): SecretFile | undefined {
    return this.#file;
  }

  reveal(): string {
    return this.#value;
  }

  /** Another one after each change: tells whether the value is still the one that a request was sent with. */
  get version(): number {
    return this.#version;
  }

  /**
   * Takes another value, unless the rule, which finds it in place, has a problem with it.
   * @returns the problem
   */
  replace(value: string, rule: () => string | undefined): string | undefined {
    const before = this.#value;
    this.#value = value;
    const problem = rule();
    if (problem === undefined) this.#version++;
    else this.#value = before;
    return problem;
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
