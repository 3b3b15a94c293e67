import { connect, createServer, type Socket } from "node:net";

import { listenerOf, throughPort } from "../../../test/rig/fresh-database.ts";

/** A line to a ledger's database that knows what is asked over it, and can lose an answer. */
export interface WatchedLine {
  /** Of the same database, by way of the line. */
  readonly url: string;
  /** Statements in the order in which they were sent. */
  readonly statements: string[];
  /**
   * Breaks the connection over which the next statement of that kind goes: once the server has done it, and has
   * committed one that goes alone, before its answer arrives.
   * @param after so many others of that kind
   */
  loseAnswerTo(statement: RegExp, after?: number): void;
  close(): Promise<void>;
}

export async function watchLine(databaseUrl: string): Promise<WatchedLine> {
  const statements: string[] = [];
  const sockets = new Set<Socket>();
  let losing: RegExp | undefined;
  let othersFirst = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = keep(connect(listenerOf(databaseUrl)));
    keep(near).on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    let isLost = false;
    let before = "";
    let isAlone = false;
    const asked = messages({ isStarted: false }, (type, body) => {
      const statement = type === "Q" ? textAt(body, 0) : type === "P" ? textAt(body, body.indexOf(0) + 1) : undefined;
      if (statement === undefined) return;
      statements.push(statement);
      const goesAlone = before.startsWith("begin; set local");
      before = statement;
      if (!losing?.test(statement) || othersFirst-- > 0) return;
      losing = undefined;
      isLost = true;
      isAlone = goesAlone;
    });
    // Ready for the next one: what was asked is done. One that goes alone is, once the connection is idle again.
    const answered = messages({ isStarted: true }, (type, body) => {
      if (isLost && type === "Z" && (!isAlone || body.toString() === "I")) near.destroy();
    });
    near.on("data", (bytes) => {
      asked(bytes);
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      answered(bytes);
      if (!isLost) near.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return {
    url: throughPort(databaseUrl, address.port),
    statements,
    loseAnswerTo(statement, after = 0) {
      losing = statement;
      othersFirst = after;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/**
 * Messages of PostgreSQL's protocol out of pieces of any size: a type, which the client's very first has not, a length,
 * a body.
 */
function messages(from: { isStarted: boolean }, onMessage: (type: string, body: Buffer) => void) {
  let { isStarted } = from;
  let rest = Buffer.alloc(0);
  return (bytes: Buffer): void => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const typeSize = isStarted ? 1 : 0;
      if (rest.length < typeSize + 4) return;
      const end = typeSize + rest.readInt32BE(typeSize);
      if (rest.length < end) return;
      const type = isStarted ? String.fromCharCode(rest[0] ?? 0) : "";
      onMessage(type, rest.subarray(typeSize + 4, end));
      rest = rest.subarray(end);
      isStarted = true;
    }
  };
}

function textAt(body: Buffer, start: number): string {
  return body.toString("utf8", start, body.indexOf(0, start));
}
