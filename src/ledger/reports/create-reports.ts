import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { readDocuments } from "./documents.ts";
import { readFigures } from "./figures.ts";
import type { BusinessDocuments, DocumentsRequest } from "./listed.ts";
import { readMovements } from "./movements.ts";
import { readOpen } from "./open.ts";
import type { BusinessReport, ReportRequest } from "./report.ts";
import { type Chain, chainsOf } from "./signed.ts";
import { readCourse, readPayments } from "./totals.ts";

export interface Reports {
  /**
   * One for each business that has documents; all of a report is read from one state. @throws LedgerUnavailableError
   */
  read(request: ReportRequest): Promise<BusinessReport[]>;
  /**
   * Gives `read` each document of a period, in pages and from one state; `read` runs once.
   * @throws LedgerUnavailableError, also where the connection breaks before the last page, and what `read` throws
   */
  documents<Result>(
    request: DocumentsRequest,
    read: (businesses: BusinessDocuments[]) => Promise<Result>,
  ): Promise<Result>;
}

const READ_WITHIN_MS = 60_000;

export function createReports(database: Database): Reports {
  return {
    read: (request) =>
      database.transact(async (db) => {
        await sql`set transaction isolation level repeatable read read only`.execute(db);
        const reports: BusinessReport[] = [];
        for (const chain of await chainsOf(db, request)) reports.push(await readReport(db, chain, request));
        return reports;
      }, READ_WITHIN_MS),
    documents: (request, read) => readDocuments(database, request, read),
  };
}

async function readReport(db: Queries, chain: Chain, { period }: ReportRequest): Promise<BusinessReport> {
  return {
    ...(await readFigures(db, chain, period)),
    payments: await readPayments(db, chain, period),
    ...(await readCourse(db, chain, period)),
    movements: await readMovements(db, chain, period),
    ...(await readOpen(db, chain)),
  };
}
