/** What earlier runs of a workflow's id did cannot be read from Temporal now. Nothing unrepeatable may be sent before it can. */
export class EarlierRunsUnreadError extends Error {
  override readonly name = "EarlierRunsUnreadError";
  readonly code = "earlier-runs-unread";

  constructor(workflowId: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Whether ${workflowId} had earlier runs, and what they did, cannot be read from Temporal now: ${reason}`, {
      cause,
    });
  }
}
