import type { PresentKey } from "../../activities/present-key.ts";
import type { Secret } from "../config/index.ts";

/** The secrets that authenticate a connection's requests, as one key. */
export function presentKey(secrets: readonly Secret[], readAgain: () => Promise<void>): PresentKey {
  return {
    get version() {
      return secrets.map((secret) => secret.version).join("/");
    },
    readAgain,
  };
}
