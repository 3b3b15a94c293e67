import type { IncomingMessage } from "node:http";

/** How much more than the limit is read and thrown away, so that the sender gets to see the 413 instead of a reset. */
const DRAINED_LIMITS = 8;

export interface BodyLimits {
  /** Of one body. */
  limitBytes: number;
  /** Of all bodies that are being read at the same time. */
  totalBytes: number;
}

/** `cut-off`: the connection ended before the body did. `crowded-out`: given up in favour of others. */
export type UnreadBody = "too-large" | "cut-off" | "crowded-out";

interface Reading {
  heldBytes: number;
  finish: (result: Buffer | UnreadBody) => void;
}

/**
 * Reads requests' bodies, and holds no more of them than fits. Nobody can occupy it by sending slowly: a body takes no
 * more than what has come of it, and where there is no room, the one that has been read for longest is given up.
 */
export class BodyReader {
  readonly #limits: BodyLimits;
  /** The oldest first. */
  readonly #readings = new Set<Reading>();
  #heldBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** @returns the bytes, whatever their content type, with or without Content-Length */
  read(request: IncomingMessage): Promise<Buffer | UnreadBody> {
    const { limitBytes, totalBytes } = this.#limits;
    const drainBytes = limitBytes * DRAINED_LIMITS;
    if (Number(request.headers["content-length"] ?? 0) > drainBytes) return Promise.resolve("too-large");
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let receivedBytes = 0;
      const hold = (bytes: number): void => {
        this.#heldBytes += bytes;
        reading.heldBytes += bytes;
      };
      const reading: Reading = {
        heldBytes: 0,
        finish: (result) => {
          request.off("data", onData);
          this.#readings.delete(reading);
          hold(-reading.heldBytes);
          chunks.length = 0;
          resolve(result);
        },
      };
      const onData = (chunk: Buffer): void => {
        receivedBytes += chunk.length;
        if (receivedBytes <= limitBytes) {
          chunks.push(chunk);
          hold(chunk.length);
        } else {
          chunks.length = 0;
          hold(-reading.heldBytes);
        }
        if (receivedBytes > drainBytes) reading.finish("too-large");
        while (this.#heldBytes > totalBytes) this.#giveUpOldest();
      };
      this.#readings.add(reading);
      request.on("data", onData);
      request.once("end", () => reading.finish(receivedBytes > limitBytes ? "too-large" : Buffer.concat(chunks)));
      request.once("error", () => reading.finish("cut-off"));
      request.once("close", () => reading.finish("cut-off"));
    });
  }

  #giveUpOldest(): void {
    for (const oldest of this.#readings) {
      if (oldest.heldBytes > 0) return oldest.finish("crowded-out");
    }
  }
}

/** Counts what is done at the same time, and does no more than so much. */
export class InFlight {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined: as many as may be are under way. */
  async run<T>(act: () => Promise<T>): Promise<T | undefined> {
    if (this.#count >= this.#most) return undefined;
    this.#count += 1;
    try {
      return await act();
    } finally {
      this.#count -= 1;
    }
  }
}
