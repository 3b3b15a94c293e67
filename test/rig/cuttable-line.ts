import { createServer, connect, type NetConnectOpts, type Socket } from "node:net";

/**
 * A line to a server that can be cut and restored, as a network does it: open connections break, new ones are closed at
 * once.
 */
export interface CuttableLine {
  port: number;
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** @param onSent sees what goes to the server, and over which connection, before the server does */
export async function startCuttableLine(
  target: NetConnectOpts,
  onSent: (bytes: Buffer, connection: Socket) => void = () => undefined,
): Promise<CuttableLine> {
  const sockets = new Set<Socket>();
  let whole = true;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // A reset is what this is for.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((near) => {
    keep(near);
    if (!whole) {
      near.destroy();
      return;
    }
    const far = keep(connect(target));
    near.on("data", (bytes: Buffer) => onSent(bytes, near));
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  const cut = (): void => {
    whole = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut,
    restore: () => (whole = true),
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Where a server of that address (`host:port`) listens. */
export function addressOf(address: string): { host: string; port: number } {
  const [host = "", port] = address.split(":");
  return { host, port: Number(port) };
}
