/**
 * What all processes together have spent of the request budget of each application, one row each: the provider's
 * current window. Instants are kept by the database's clock and returned as times from now, so that the clocks of the
 * hosts do not matter.
 */
export interface QuotaCounts {
  /**
   * Takes one request of the current window, in one statement; a window whose end has passed makes room for the next.
   * @throws LedgerUnavailableError after `withinMs`; the request may have been counted then
   */
  spend(request: SpendRequest, withinMs: number): Promise<SpendAnswer>;
  /**
   * What became of a request that was taken. Nothing is changed where its window has ended and made room for another;
   * undefined then.
   * @throws LedgerUnavailableError after `withinMs`
   */
  settle(request: SettleQuotaRequest, withinMs: number): Promise<QuotaWindow | undefined>;
}

export interface SpendRequest {
  readonly application: string;
  /** Requests of the window that are kept for others. */
  readonly reserve: number;
  /** What is believed of the window and its limit: counts where the database knows of none yet. */
  readonly believed: BelievedWindow;
}

export interface BelievedWindow {
  readonly limit: number;
  readonly endsInMs: number;
  readonly lengthMs: number;
  /** Whether they come from the provider's headers. */
  readonly fromHeaders: boolean;
}

export interface QuotaWindow {
  /** Grows with each window of the application. */
  readonly number: number;
  readonly endsInMs: number;
  readonly lengthMs: number;
  readonly fromHeaders: boolean;
  readonly limit: number;
  /** Requests that are gone: of all processes, and of other programs as far as headers show. */
  readonly spent: number;
  /** Requests taken and not yet settled. */
  readonly inFlight: number;
  /** Strangers are, or were a few windows ago, on the application. */
  readonly strangers: boolean;
}

export type SpendAnswer =
  | { readonly granted: true; readonly window: QuotaWindow; readonly sequence: number }
  | { readonly granted: false; readonly window: QuotaWindow };

export interface SettleQuotaRequest {
  readonly application: string;
  /** Of the grant. */
  readonly number: number;
  readonly sequence: number;
  /**
   * Requests of the window that are gone as the provider counts, and its limit; absent where the answer has neither.
   */
  readonly counted?: { readonly used: number; readonly limit: number } | undefined;
  /** Not a byte of it has left: it is given back. */
  readonly unsent?: boolean | undefined;
  /** What the answer says of the window's end, where that is news. */
  readonly edge?: SettledEdge | undefined;
}

export interface SettledEdge {
  /**
   * `earlier`: the end is no later than this. `is`: the end is this, whatever was thought. `next`: the window is
   * another one.
   */
  readonly says: "earlier" | "is" | "next";
  readonly endsInMs: number;
  readonly lengthMs: number;
}
