import { loggedReason } from "./logged-error.ts";

interface Looking {
  /** One look, at what happened since then (Unix milliseconds); from when on the next one looks. */
  look: (sinceMs: number, signal: AbortSignal) => Promise<number>;
  everyMs: number;
  log: { warn: (message: string, fields: Record<string, unknown>) => void };
  /** Said once when looks begin to fail. */
  failing: string;
}

/**
 * Looks now, and then again and again, one look after the other. A look that fails is made again as it was.
 * @returns what ends it, once the look under way has ended
 */
export function lookRegularly({ look, everyMs, log, failing }: Looking): () => Promise<void> {
  const stop = new AbortController();
  let sinceMs = 0;
  let isFailing = false;
  const lookOnce = async (): Promise<void> => {
    try {
      sinceMs = await look(sinceMs, stop.signal);
      isFailing = false;
    } catch (error) {
      if (stop.signal.aborted || isFailing) return;
      isFailing = true;
      log.warn(failing, { reason: loggedReason(error) });
    }
  };
  let looking = lookOnce();
  const timer = setInterval(() => {
    looking = looking.then(lookOnce);
  }, everyMs);
  timer.unref();
  return async () => {
    stop.abort();
    clearInterval(timer);
    await looking;
  };
}
