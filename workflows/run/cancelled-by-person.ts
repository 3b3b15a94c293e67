/** A person asked to cancel, and no document stands in the way. Ends the body's way forward, never the workflow as failed. */
export class CancelledByPerson extends Error {
  override readonly name = "CancelledByPerson";

  constructor(reason: string) {
    super(`cancelled: ${reason}`);
  }
}
