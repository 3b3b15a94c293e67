/**
 * One HTTP request to a service and its answer: connections, deadlines, bounds of a body, JSON, the headers of a quota;
 * and how the settings of a dialect are described. What an answer means is in `src/compliance/` and `src/accounting/`,
 * and whether to repeat a request is for the workflows.
 *
 * Stands on: nothing of ours.
 */
import { Agent, type Dispatcher } from "undici";

import { UnreadableAnswerError } from "./errors.ts";
import { type HttpAnswer, type HttpRequest, sendRequest } from "./request.ts";

/** Of an answer that is taken piece by piece: as much of it comes in beside all others. */
const SMALL_BYTES = 1024 * 1024;

/** An answer that waits longer ends its call, which is tried again: what waits holds a worker's slot. */
const PATIENCE_MS = 5_000;

interface Turn {
  /** @throws UnreadableAnswerError it has not come in time */
  begun: Promise<void>;
  end: () => void;
}

/**
 * One large answer at a time in a process, since the rows of each can take hundreds of megabytes. The others wait where
 * they are, unread beyond their beginning, and not for long. Answers that are not large wait for nobody.
 */
class LargeAnswers {
  #last: Promise<void> = Promise.resolve();

  /** Takes pieces of one answer, and waits for the answer's turn where it is large. */
  oneByOne(onBody: (piece: Uint8Array) => Promise<unknown>): {
    onBody: (piece: Uint8Array) => Promise<unknown>;
    /** To be called once the answer is in, or will not come. */
    end: () => void;
  } {
    let bytes = 0;
    let turn: Turn | undefined;
    return {
      onBody: async (piece) => {
        bytes += piece.length;
        if (bytes > SMALL_BYTES) {
          turn ??= this.#turn();
          await turn.begun;
        }
        return await onBody(piece);
      },
      end: () => turn?.end(),
    };
  }

  #turn(): Turn {
    const before = this.#last;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.#last = before.then(() => ended);
    const begun = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        end();
        reject(new UnreadableAnswerError("the answer is large, and others that are large were still being read"));
      }, PATIENCE_MS);
      void before.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    return { begun, end };
  }
}

interface DispatcherOptions {
  /** Connecting and the TLS handshake; after it certainly nothing was sent. Milliseconds. */
  connectTimeoutMs?: number;
}

export interface OwnedDispatchers extends Dispatchers {
  close(): Promise<void>;
}

/**
 * Dispatchers that belong to one process. HTTP/1.1 without pipelining, so that one request owns its connection. How many
 * there are is not bounded here: each call has a place in a worker, and a bound for all together would let the calls of
 * one business that nobody answers hold up those of all others at the same service.
 */
export function createDispatchers(options: DispatcherOptions = {}): OwnedDispatchers {
  const { connectTimeoutMs = 10_000 } = options;
  const shared = new Agent({ pipelining: 1, allowH2: false, connect: { timeout: connectTimeoutMs } });
  return {
    shared,
    fresh: () => new Agent({ connections: 1, pipelining: 0, allowH2: false, connect: { timeout: connectTimeoutMs } }),
    close: () => shared.close(),
  };
}

export interface TransportRequest extends HttpRequest {
  /**
   * Sent on a connection of its own. For writes that cannot be repeated: on a kept connection that the peer is just
   * closing, a request would be lost without anybody knowing whether it was read.
   */
  freshConnection?: boolean | undefined;
}

/** What the clients send with; a request budget is a transport around a transport. */
export interface Transport {
  send(request: TransportRequest): Promise<HttpAnswer>;
}

interface Dispatchers {
  /** Kept connections. It must not retry or follow redirects. */
  shared: Dispatcher;
  /** Makes a dispatcher that holds no connection yet; it is destroyed after its one request. */
  fresh: () => Dispatcher;
}

/** A transport over injected dispatchers. The shared one belongs to the caller, who closes it. One a process. */
export function createTransport({ shared, fresh }: Dispatchers, nowMs: () => number = Date.now): Transport {
  const largeAnswers = new LargeAnswers();
  const sendOnce = async (request: HttpRequest, freshConnection: boolean): Promise<HttpAnswer> => {
    if (!freshConnection) return sendRequest({ ...request, dispatcher: shared, nowMs });
    const dispatcher = fresh();
    try {
      return await sendRequest({ ...request, dispatcher, closeConnection: true, nowMs });
    } finally {
      // Not awaited: the answer does not depend on how the socket closes.
      dispatcher.destroy().catch(() => {});
    }
  };
  return {
    async send({ freshConnection = false, onBody, ...request }) {
      if (onBody === undefined) return sendOnce(request, freshConnection);
      const answer = largeAnswers.oneByOne(onBody);
      try {
        return await sendOnce({ ...request, onBody: answer.onBody }, freshConnection);
      } finally {
        answer.end();
      }
    },
  };
}
