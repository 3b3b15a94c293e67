/** The key that requests are sent with; it may be replaced at any time. */
export interface PresentKey {
  /** Another one after each change. */
  readonly version: number | string;
  /** Finds out whether it has been replaced. */
  readAgain: () => Promise<void>;
}

/**
 * A call that was refused with a key that has been replaced since: that says nothing of the present key. Certainly
 * nothing was done, and the call can be sent again at once.
 */
export class KeyReplacedError extends Error {
  override readonly name = "KeyReplacedError" as const;

  constructor(operation: string, refusal: Error) {
    super(`${operation} was sent with a key that has been replaced since, and is sent again with the new one`, {
      cause: refusal,
    });
  }
}
