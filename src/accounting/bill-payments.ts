import { z } from "zod";

import { BILL_PAYMENT_STATUSES, type BillPayment, LARGEST_BILL_PAYMENT_PAGE } from "../contract/bill-payment.ts";
import { rowsOf } from "../http/read-body.ts";
import {
  type AccountingCallOptions,
  type AccountingContext,
  type AccountingResult,
  callAccounting,
} from "./call-operation.ts";
import { AccountingInputError } from "./errors.ts";
import { ACCOUNTING_OPERATIONS } from "./operations.ts";

/** Accounting Service, "GET /bill-payments": the allowed values. */
const PAYMENT_METHODS = ["cash", "check", "bank_transfer", "credit_card", "other"] as const;
const SORT_FIELDS = ["paymentDate", "totalAmount", "createdAt", "updatedAt"] as const;
const SORT_DIRECTIONS = ["asc", "desc"] as const;

export interface ListBillPaymentsInput {
  /** From 1, which is the default of this client: the service's is not shown. */
  page?: number | undefined;
  /** From 1 to 100. Default: the service's, which is not shown. */
  limit?: number | undefined;
  paymentMethod?: (typeof PAYMENT_METHODS)[number] | undefined;
  status?: string | undefined;
  sortBy?: (typeof SORT_FIELDS)[number] | undefined;
  sortDirection?: (typeof SORT_DIRECTIONS)[number] | undefined;
}

/** The list envelope, with `data` under its own name. */
export interface BillPaymentsPage {
  billPayments: BillPayment[];
  total: number;
  page: number;
  limit: number;
  totalPages: number;
  hasNextPage: boolean;
  hasPreviousPage: boolean;
}

const text = z.string().nullish();
const amount = z.number().nullish();
const named = z.looseObject({ id: text, name: text }).nullish();

const billPaymentSchema: z.ZodType<BillPayment> = z.looseObject({
  id: z.string().min(1),
  supplierRef: named,
  accountRef: named,
  paymentMethodRef: named,
  billRef: z.looseObject({ id: text, billCode: text }).nullish(),
  totalAmount: amount,
  currency: text,
  currencyRate: amount,
  date: text,
  billPaymentCode: text,
  note: text,
  lines: z
    .array(
      z.looseObject({
        amount,
        allocatedOnDate: text,
        reference: text,
        links: z.array(z.looseObject({ billId: text, amount })).nullish(),
      }),
    )
    .nullish(),
  createdAt: text,
  updatedAt: text,
});

const pageSchema = z.looseObject({
  data: z.array(z.unknown()),
  total: z.number(),
  page: z.number(),
  limit: z.number(),
  totalPages: z.number(),
  hasNextPage: z.boolean(),
  hasPreviousPage: z.boolean(),
});

const readPage = rowsOf({
  path: ["data"],
  body: pageSchema,
  row: billPaymentSchema,
  names: ["id"],
  data: (envelope, billPayments): BillPaymentsPage => {
    const { total, page, limit, totalPages, hasNextPage, hasPreviousPage } = envelope;
    return { billPayments, total, page, limit, totalPages, hasNextPage, hasPreviousPage };
  },
});

/**
 * GET /bill-payments, one page.
 * @throws AccountingInputError before anything is sent, for a bound or a value that the document does not allow
 */
export async function listBillPayments(
  context: AccountingContext,
  input: ListBillPaymentsInput = {},
  options: AccountingCallOptions = {},
): Promise<AccountingResult<BillPaymentsPage>> {
  const operation = ACCOUNTING_OPERATIONS.listBillPayments;
  return callAccounting(
    context,
    operation,
    { path: operation.path, query: queryOf(context, input) },
    readPage,
    options,
  );
}

function queryOf({ dialect }: AccountingContext, input: ListBillPaymentsInput): Record<string, string> {
  const names = dialect.billPayments;
  const query: Record<string, string> = {};
  const put = (input_: string, name: string | null, value: string | undefined): void => {
    if (value === undefined) return;
    if (name === null)
      throw refused("not-in-dialect", `\`${input_}\` was asked for, and the dialect has no name for it`);
    query[name] = value;
  };
  put("page", names.page, wholeNumber("page", input.page ?? 1, Number.MAX_SAFE_INTEGER));
  put("limit", names.limit, wholeNumber("limit", input.limit, LARGEST_BILL_PAYMENT_PAGE));
  put("paymentMethod", names.paymentMethod, oneOf("paymentMethod", PAYMENT_METHODS, input.paymentMethod));
  put("status", names.status, oneOf("status", BILL_PAYMENT_STATUSES, input.status));
  put("sortBy", names.sortBy, oneOf("sortBy", SORT_FIELDS, input.sortBy));
  put("sortDirection", names.sortDirection, oneOf("sortDirection", SORT_DIRECTIONS, input.sortDirection));
  return query;
}

function wholeNumber(name: string, value: number | undefined, most: number): string | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return String(value);
  throw refused("invalid-argument", `\`${name}\` must be a whole number from 1 to ${most}, not ${value}`);
}

function oneOf(name: string, allowed: readonly string[], value: string | undefined): string | undefined {
  if (value === undefined || allowed.includes(value)) return value;
  throw refused("invalid-argument", `\`${name}\` must be one of ${allowed.join(", ")}, not ${JSON.stringify(value)}`);
}

function refused(code: AccountingInputError["code"], what: string): AccountingInputError {
  return new AccountingInputError(code, `listBillPayments: ${what}`);
}
