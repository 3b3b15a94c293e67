import { randomBytes } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import type { Scope } from "../sale/scope.ts";
import { withNamedOperation } from "../with-compliance.ts";

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
    const partial = join(dirname(wanted), `.${basename(wanted)}.${randomBytes(4).toString("hex")}.part`);
    try {
      const handle = await open(partial, "wx").catch(unwritable(wanted));
      try {
        const { data } = await client.downloadReceipt(saleId, (piece) => handle.appendFile(piece), call);
        await handle.close();
        const { contentType, length } = data;
        const file = out === undefined ? `${wanted}${endingOf(contentType)}` : wanted;
        if (!force) await refuseExisting(file);
        await rename(partial, file).catch(unwritable(file));
        return { saleId, file, contentType: contentType ?? null, bytes: length };
      } finally {
        await handle.close();
      }
    } finally {
      await rm(partial, { force: true });
    }
  });
}

async function refuseExisting(file: string): Promise<void> {
  const exists = await lstat(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new UsageError(`The file ${file} exists already. Give another one with --out, or add --force.`);
}

function unwritable(file: string): (error: unknown) => never {
  return (error) => {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(`The file ${file} cannot be written (${reason}). Give another one with --out.`, {
      cause: error,
    });
  };
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
