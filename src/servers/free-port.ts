import { createServer } from "node:net";

/**
 * A port of loopback that nobody listens on at this moment; somebody else may take it before it is used.
 * @param port default: any @throws where somebody listens on the given one
 */
export function freePort(port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : port));
    });
  });
}
