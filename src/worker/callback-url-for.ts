import { callbackUrl, createCallbackToken } from "../callbacks/index.ts";
import type { Config } from "../config/index.ts";

/** Signs the callback URL of a workflow with the first of the configured secrets. */
export function createCallbackUrlFor(callbacks: Config["callbacks"]): (workflowId: string) => string | undefined {
  const [signing] = callbacks?.secrets ?? [];
  if (!callbacks || !signing) return () => undefined;
  return (workflowId) => {
    try {
      return callbackUrl(callbacks, createCallbackToken({ workflowId }, signing.reveal()));
    } catch (error) {
      // A workflow that somebody started under an id of his own, too long for a URL: polling finishes it.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
}
