import { createEmbeddedServer, type EmbeddedOptions, type ServerAddress } from "../postgres-server.ts";

/** The server of a home, for as long as this process wants it. */
export async function startEmbeddedPostgres(
  options: EmbeddedOptions,
): Promise<ServerAddress & { close(): Promise<void> }> {
  const server = createEmbeddedServer(options);
  return { ...(await server.ensure()), close: () => server.close() };
}
