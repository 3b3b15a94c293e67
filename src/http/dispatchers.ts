import { Agent } from "undici";
import type { Dispatchers } from "./transport.ts";

export interface DispatcherOptions {
  /** Connecting and the TLS handshake; after it certainly nothing was sent. Milliseconds. */
  connectTimeoutMs?: number;
  /** At most so many kept connections to one origin. */
  connections?: number;
}

export interface OwnedDispatchers extends Dispatchers {
  close(): Promise<void>;
}

/** Dispatchers that belong to one process. HTTP/1.1 without pipelining, so that one request owns its connection. */
export function createDispatchers(options: DispatcherOptions = {}): OwnedDispatchers {
  const { connectTimeoutMs = 10_000, connections = 32 } = options;
  const shared = new Agent({ connections, pipelining: 1, allowH2: false, connect: { timeout: connectTimeoutMs } });
  return {
    shared,
    fresh: () => new Agent({ connections: 1, pipelining: 0, allowH2: false, connect: { timeout: connectTimeoutMs } }),
    close: () => shared.close(),
  };
}
