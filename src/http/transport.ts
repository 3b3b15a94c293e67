import type { Dispatcher } from "undici";
import type { HttpAnswer } from "./http-answer.ts";
import { LargeAnswers } from "./large-answers.ts";
import { type HttpRequest, sendRequest } from "./request.ts";

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

export interface Dispatchers {
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
