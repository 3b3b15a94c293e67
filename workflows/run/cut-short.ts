/** The history is long: what is left is for the next run. */
export class CutShort extends Error {
  override readonly name = "CutShort";

  constructor() {
    super("to be continued in a new run");
  }
}

/** Undefined for a wait that was ended so. @throws every other error */
export function unlessCutShort(error: unknown): undefined {
  if (!(error instanceof CutShort)) throw error;
}
