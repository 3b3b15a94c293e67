import { AsyncLocalStorage } from "node:async_hooks";

import { UnreadableAnswerError } from "./errors.ts";

/** Of an answer that is taken piece by piece: as much of it comes in beside all others. */
const SMALL_BYTES = 1024 * 1024;

/** An answer that waits longer ends its call, which is tried again: what waits holds a worker's slot. */
const PATIENCE_MS = 5_000;

/** What lives as long as somebody works with an answer. */
interface Use {
  /** Undefined where none of its answers is large. */
  turn?: Turn;
}

interface Turn {
  /** @throws UnreadableAnswerError it has not come in time */
  begun: Promise<void>;
  end: () => void;
}

const uses = new AsyncLocalStorage<Use>();

/**
 * Runs what works with answers: a large one counts as in memory until `work` has ended. Without this it does so only
 * until it has come in.
 */
export function usingAnswers<Result>(work: () => Promise<Result>): Promise<Result> {
  const use: Use = {};
  return uses.run(use, async () => {
    try {
      return await work();
    } finally {
      use.turn?.end();
    }
  });
}

/**
 * One large answer at a time in a process, since the rows of each can take hundreds of megabytes. The others wait where
 * they are, unread beyond their beginning, and not for long. Answers that are not large wait for nobody.
 */
export class LargeAnswers {
  #last: Promise<void> = Promise.resolve();

  /** Takes pieces of one answer, and waits for the answer's turn where it is large. */
  oneByOne(onBody: (piece: Uint8Array) => Promise<unknown>): {
    onBody: (piece: Uint8Array) => Promise<unknown>;
    /** To be called once the answer is in, or will not come. */
    end: () => void;
  } {
    const use = uses.getStore();
    let bytes = 0;
    let own: Turn | undefined;
    return {
      onBody: async (piece) => {
        bytes += piece.length;
        if (bytes > SMALL_BYTES) {
          if (use) use.turn ??= this.#turn();
          else own ??= this.#turn();
          await (use?.turn ?? own)?.begun;
        }
        return await onBody(piece);
      },
      end: () => own?.end(),
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
