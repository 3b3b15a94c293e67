import { LedgerUnavailableError } from "../errors.ts";

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const OTHERWISE = "or set LEDGER_URL to the address of a PostgreSQL server";

/** An error of the file system, worded so that somebody can correct it. */
export function fileTrouble(folder: string, error: unknown): LedgerUnavailableError {
  const code = codeOf(error);
  const what = (): string => {
    switch (code) {
      case "EACCES":
      case "EPERM":
      case "EROFS":
        return `${folder} cannot be written (${code}): make it writable for this user, choose another home, ${OTHERWISE}`;
      case "ENOSPC":
      case "EDQUOT":
        return `the disk that holds ${folder} is full (${code}): free some space`;
      default:
        return `${folder} cannot be used: ${error instanceof Error ? error.message : String(error)}; choose another home, ${OTHERWISE}`;
    }
  };
  return new LedgerUnavailableError(`The ledger's own PostgreSQL cannot keep its data: ${what()}.`, { cause: error });
}

/** A command of PostgreSQL that failed, with its output. */
export function commandTrouble(what: string, output: string): LedgerUnavailableError {
  const full = output.includes("No space left on device") ? " The disk is full: free some space." : "";
  return new LedgerUnavailableError(`${what}${full} It said: ${output || "nothing"}`);
}
