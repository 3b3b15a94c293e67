import { setTimeout as delay } from "node:timers/promises";
import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from "@temporalio/client";

type Interceptors = NonNullable<ConnectionOptions["interceptors"]>;

/** Calls that were interrupted end at once, unless the server is gone. */
const CALLS_END_MS = 3_000;

/**
 * Calls of a connection to Temporal that are under way, the pauses between their repetitions included. The client
 * repeats a failed call from a timer, and where the connection was closed meanwhile, that throws where nobody can catch
 * it ("Channel has been shut down"): so a connection is closed only when no call is left.
 */
export class OpenCalls {
  #open = 0;
  #onNone: (() => void)[] = [];

  /** Of the connection whose calls are counted. */
  readonly interceptors: Interceptors = [this.#counting(makeGrpcRetryInterceptor(defaultGrpcRetryOptions()))];

  /** Closes the connection, unless calls are left that do not end: then the end of the process closes it. */
  async close(connection: { close(): Promise<void> }): Promise<void> {
    if (await this.ended(CALLS_END_MS)) await connection.close();
  }

  /** Whether all have ended within the time. */
  async ended(withinMs: number): Promise<boolean> {
    if (this.#open === 0) return true;
    const timer = new AbortController();
    const tooLate = delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([new Promise<void>((resolve) => this.#onNone.push(resolve)), tooLate]);
    timer.abort();
    return this.#open === 0;
  }

  /** Stands outside of the repetitions, so that it sees their end alone. */
  #counting(repeating: Interceptors[number]): Interceptors[number] {
    return (options, nextCall) => {
      const call = repeating(options, nextCall);
      const start = call.start.bind(call);
      call.start = (metadata, listener) => {
        this.#open += 1;
        start(metadata, {
          onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
          onReceiveMessage: (message: unknown) => listener?.onReceiveMessage?.(message),
          onReceiveStatus: (status) => {
            listener?.onReceiveStatus?.(status);
            this.#oneLess();
          },
        });
      };
      return call;
    };
  }

  #oneLess(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const resolve of this.#onNone) resolve();
    this.#onNone = [];
  }
}
