import { sha256Hex } from "./sha256.ts";

const ENDS_LIKE_A_BOUND = /~[0-9a-f]{64}$/;

/**
 * The name itself where it fits, else a readable prefix that ends in `~` and the SHA-256 of the whole name, so that two
 * long names that differ only at their end stay two names. A short name that is written like a bounded one is bounded
 * too: it would else be taken for the long name whose digest it bears.
 */
export function boundedName(name: string, maxLength: number): string {
  if (name.length <= maxLength && !ENDS_LIKE_A_BOUND.test(name)) return name;
  const digest = sha256Hex(name);
  // A cut through a percent escape would leave half of it at the end.
  const prefix = name.slice(0, maxLength - digest.length - 1).replace(/%[0-9A-F]?$/, "");
  return `${prefix}~${digest}`;
}
