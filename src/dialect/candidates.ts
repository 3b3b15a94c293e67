/** Names that services commonly use, tried after the configured one. */
const BRANCH =
  "branchId branch_id branch branchCode branch_code authorityBhfId authority_bhf_id bhfId bhf_id location locationId";

const CANDIDATES: Readonly<Record<string, string>> = {
  "createSale.fields.traderInvoiceNumber":
    "traderInvoiceNumber trader_invoice_number invoiceNumber invoice_number invoiceNo invoice_no number documentNumber",
  "createSale.fields.saleDate": "saleDate sale_date date invoiceDate invoice_date salesDate transactionDate issueDate",
  "createSale.fields.paymentTypeCode":
    "paymentTypeCode payment_type_code paymentType payment_type paymentMethod payment_method paymentCode",
  "createSale.fields.customer": "customer buyer client customerDetails customer_details",
  "createSale.fields.lines": "lines items lineItems line_items saleLines sale_lines products",
  "createSale.fields.branch": BRANCH,
  "createSale.fields.callbackUrl": "callbackUrl callback_url callback webhookUrl webhook_url notifyUrl notificationUrl",
  "createSale.lineFields.itemId": "itemId item_id item productId product_id id",
  "createSale.lineFields.quantity": "quantity qty count units",
  "createSale.lineFields.unitPrice": "unitPrice unit_price price rate",
  "createSale.customerFields.name": "name fullName full_name customerName customer_name",
  "createSale.customerFields.pin": "pin kraPin kra_pin taxPin tax_pin customerPin customer_pin taxId tax_id tin",
  "createSale.customerFields.phone": "phone phoneNumber phone_number mobile telephone tel",
  "createSale.customerFields.email": "email emailAddress email_address mail",
  "stock.branch": BRANCH,
  "register.branch": BRANCH,
  "register.force": "force reRegister re_register reregister forceRegister force_register overwrite resubmit update",
  "purchases.cursor": "cursor nextCursor next_cursor after pageToken page_token startAfter starting_after next",
  "purchases.pageSize": "pageSize page_size limit perPage per_page size take count first",
  "purchases.status": "status reviewStatus review_status purchaseStatus purchase_status state",
  "purchases.from": "from fromDate from_date dateFrom date_from startDate start_date since invoiceDateFrom",
  "purchases.to": "to toDate to_date dateTo date_to endDate end_date until invoiceDateTo",
  "billPayments.page": "page pageNumber page_number pageNo pageIndex",
  "billPayments.limit": "limit pageSize page_size perPage per_page size take",
  "billPayments.paymentMethod": "paymentMethod payment_method method paymentType payment_type",
  "billPayments.status": "status syncStatus sync_status state",
  "billPayments.sortBy": "sortBy sort_by sort sortField sort_field orderBy order_by",
  "billPayments.sortDirection":
    "sortDirection sort_direction sortOrder sort_order order direction sortDir orderDirection order_direction",
};

/** The configured name first, then those that are common for the setting. */
export function candidatesFor(path: string, configured: unknown): string[] {
  const known = (CANDIDATES[path] ?? "").split(" ").filter((name) => name !== "");
  return [...new Set([...(typeof configured === "string" ? [configured] : []), ...known])];
}

/**
 * Which of the settings a word of an error message means: by a common name for it, else by a longer name that holds one
 * ("saleLines" holds "lines"). Undefined where it means none of them.
 */
export function settingMeantBy(word: string, paths: readonly string[]): string | undefined {
  const plain = normalised(word);
  const names = (path: string): string[] => candidatesFor(path, undefined).map(normalised);
  const exact = paths.find((path) => names(path).includes(plain));
  if (exact !== undefined || !looksLikeName(word)) return exact;
  const own = (path: string): string => normalised(path.split(".").at(-1) ?? "");
  return paths.find((path) => own(path) !== "" && plain.includes(own(path)));
}

/** Not an English word: `invoice_number`, `invoiceNumber`. */
function looksLikeName(word: string): boolean {
  return /_|[a-z][A-Z]/.test(word);
}

function normalised(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
}

const PATH_LIKE = /[A-Za-z_$][\w$]*(?:(?:\.|\[)\w+\]?)*/g;

/**
 * The words of an error that may be names of fields: of a path the last name ("lines[0].itemId" gives "itemId"). The
 * document says that the message of a 400 names the first wrong field; its wording is not relied upon, every name is
 * tried.
 */
export function wordsOf(...texts: readonly unknown[]): string[] {
  const words = texts.flatMap(stringsIn).flatMap((text) => text.match(PATH_LIKE) ?? []);
  return [
    ...new Set(
      words.map(
        (word) =>
          word
            .split(/[.[\]]/)
            .filter((part) => /^[A-Za-z_$]/.test(part))
            .at(-1) ?? "",
      ),
    ),
  ];
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [...(Array.isArray(value) ? [] : [key]), ...stringsIn(inner)]);
}
