import { connect, type AddressInfo, type NetConnectOpts, type Socket } from "node:net";
import { createServer, type TlsOptions } from "node:tls";

/** Ends mutual TLS before a server that speaks none, as a frontend does that wants client certificates. */
export interface MutualTls {
  /** `localhost:<port>`: an IP address is no name for TLS. */
  address: string;
  /** Breaks the open connections, and takes only client certificates of this authority from now on. */
  trust(ca: Buffer): void;
  /** Client certificates that were accepted, by their subjects' names. */
  accepted: Set<string>;
  close(): Promise<void>;
}

interface Identity {
  cert: Buffer;
  key: Buffer;
}

export async function startMutualTls(target: NetConnectOpts, identity: Identity, ca: Buffer): Promise<MutualTls> {
  const sockets = new Set<Socket>();
  const accepted = new Set<string>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // A client that is refused, or killed, resets its connection.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const options: TlsOptions = { ...identity, ca, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ["h2"] };
  const server = createServer(options, (near) => {
    accepted.add(String(near.getPeerCertificate().subject?.CN));
    const far = connect(target);
    keep(near);
    keep(far);
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  server.on("connection", keep);
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    accepted,
    trust(authority) {
      server.setSecureContext({ ...identity, ca: authority });
      breakAll();
    },
    async close() {
      breakAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
