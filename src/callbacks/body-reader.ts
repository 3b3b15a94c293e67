import type { IncomingMessage } from "node:http";

/** How much more than the limit is read and thrown away, so that the sender gets to see the 413 instead of a reset. */
const DRAINED_LIMITS = 8;

export interface BodyLimits {
  /** Of one body. */
  limitBytes: number;
  /** Of all bodies that are being read at the same time. */
  totalBytes: number;
}

/**
 * Reads requests' bodies, and holds no more of them than fits. Nobody can occupy it by sending slowly: a body takes no
 * more than what has come of it, and where there is no room, the connection of the oldest is closed.
 */
export class BodyReader {
  readonly #limits: BodyLimits;
  /** Bytes, the oldest body first. */
  readonly #held = new Map<IncomingMessage, number>();
  #heldBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /**
   * @returns the bytes, whatever their content type, with or without Content-Length; `cut-off`: the connection ended
   * before the body did
   */
  async read(request: IncomingMessage): Promise<Buffer | "too-large" | "cut-off"> {
    const { limitBytes } = this.#limits;
    const drainBytes = limitBytes * DRAINED_LIMITS;
    if (Number(request.headers["content-length"] ?? 0) > drainBytes) return "too-large";
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        receivedBytes += chunk.length;
        if (receivedBytes > drainBytes) break;
        if (receivedBytes > limitBytes) continue;
        chunks.push(chunk);
        this.#hold(request, chunk.length);
      }
    } catch {
      return "cut-off";
    } finally {
      this.#release(request);
    }
    return receivedBytes > limitBytes ? "too-large" : Buffer.concat(chunks);
  }

  #hold(request: IncomingMessage, bytes: number): void {
    this.#held.set(request, (this.#held.get(request) ?? 0) + bytes);
    this.#heldBytes += bytes;
    for (const oldest of this.#held.keys()) {
      if (this.#heldBytes <= this.#limits.totalBytes) return;
      this.#release(oldest);
      oldest.destroy();
    }
  }

  #release(request: IncomingMessage): void {
    this.#heldBytes -= this.#held.get(request) ?? 0;
    this.#held.delete(request);
  }
}
