import { resolve } from "node:path";

import type { CliContext } from "../context.ts";
import { withNamedOperation } from "../dialect/named-operations.ts";
import type { Scope } from "../sale/scope.ts";
import { refuseExisting, withWholeFile } from "../whole-file.ts";

export interface Download {
  invoice: string;
  /** Asked for once it is known that the file can be written. */
  saleId: () => Promise<string>;
  /** Default: the invoice number, with the ending of the content type, in the working directory. */
  out?: string;
  force?: boolean;
}

export interface Downloaded {
  saleId: string;
  file: string;
  contentType: string | null;
  bytes: number;
}

/**
 * Streams the service's own receipt into a file, which appears under its name only once it is whole.
 * @throws UsageError where the file exists already, or cannot be written; what {@link withNamedOperation} and the call
 * throw
 */
export function downloadOriginal(context: CliContext, flags: Scope, download: Download): Promise<Downloaded> {
  const { invoice, out, force = false } = download;
  return withNamedOperation(context, flags, "receiptDownload", async ({ client, call }) => {
    if (out !== undefined && !force) await refuseExisting(out);
    const saleId = await download.saleId();
    const wanted = resolve(out ?? fileName(invoice));
    return await withWholeFile(wanted, async (whole) => {
      const { data } = await client.downloadReceipt(saleId, (piece) => whole.append(piece), call);
      const { contentType, length } = data;
      const file = out === undefined ? `${wanted}${endingOf(contentType)}` : wanted;
      await whole.keepAs(file, { force });
      return { saleId, file, contentType: contentType ?? null, bytes: length };
    });
  });
}

/** A number may hold characters that a file's name cannot. */
function fileName(invoice: string): string {
  return invoice
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, "_")
    .replace(/^\./, "_")
    .slice(0, 100);
}

const ENDINGS: Readonly<Record<string, string>> = {
  "application/pdf": ".pdf",
  "application/json": ".json",
  "application/xml": ".xml",
  "text/html": ".html",
  "text/plain": ".txt",
  "image/png": ".png",
  "image/jpeg": ".jpg",
};

function endingOf(contentType = ""): string {
  return ENDINGS[contentType.split(";")[0]?.trim().toLowerCase() ?? ""] ?? ".bin";
}
