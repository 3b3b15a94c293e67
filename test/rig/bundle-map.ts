import type { SourceMapPayload } from "node:module";

/** The map that the bundled workflows carry, from their lines to those of the sources. */
export function bundleMap(bundle: string): SourceMapPayload {
  const [, encoded = ""] = /sourceMappingURL=data:[^,]+;base64,(\S+)/.exec(bundle) ?? [];
  return JSON.parse(Buffer.from(encoded, "base64").toString()) as SourceMapPayload;
}
