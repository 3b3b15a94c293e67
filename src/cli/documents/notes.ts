import { EXPECTED_PIN } from "../../contract/index.ts";
import type { Amounts, DocumentsOfBusiness, OddAmounts } from "../../ledger/index.ts";
import { counted } from "../output.ts";
import { money } from "../report/money.ts";

export function notesOf(of: DocumentsOfBusiness): string[] {
  const { oddDates, notSigned, givenUp, malformedPins, unknownPaymentTypes: unknownTypes } = of;
  const { inFuture, datedBeforeSale: before, signedInAnotherMonth: late, datedInAnotherMonth: elsewhere } = oddDates;
  const { signedOnAnotherDay: nextDay, datedOnAnotherDay: dayBefore } = oddDates;
  const { numbersUsedTwice: shared, notIssued, endedNotIssued: ended } = of;
  const notes: string[] = [];
  if (inFuture.count > 0) notes.push(`${signed(inFuture)} and dated in the future.`);
  if (before.count > 0)
    notes.push(
      `${are(before.count, "credit note")} signed (${sumOf(before)}) and dated before the sale that ${before.count === 1 ? "it reverses" : "they reverse"}.`,
    );
  if (late.count > 0)
    notes.push(
      `${signed(late)} in another month than ${late.count === 1 ? "it is" : "they are"} dated: signed in ${late.months.join(", ")}.`,
    );
  if (elsewhere.count > 0) {
    const commands = elsewhere.months.map((month) => `fiscalflow documents month --date ${month}`).join(", ");
    notes.push(
      `${signed(elsewhere)} in this period, and dated in another month; not listed and not counted here. See: ${commands}`,
    );
  }
  if (nextDay && nextDay.count > 0)
    notes.push(
      `${signed(nextDay)} on another day of the month than those listed: signed on ${nextDay.days.join(", ")}.`,
    );
  if (dayBefore && dayBefore.count > 0) {
    const commands = dayBefore.days.map((day) => `fiscalflow documents day --date ${day}`).join(", ");
    notes.push(
      `${signed(dayBefore)} in this period, and dated on another day of the month; not listed and not counted here. See: ${commands}`,
    );
  }
  if (notSigned > 0)
    notes.push(`${are(notSigned, "listed document")} not signed; no sum contains ${notSigned === 1 ? "it" : "them"}.`);
  if (givenUp > 0)
    notes.push(
      `${are(givenUp, "listed document")} given up and will not be signed; no sum contains ${givenUp === 1 ? "it" : "them"}.`,
    );
  if (malformedPins > 0)
    notes.push(
      `${counted(malformedPins, "listed document")} ${malformedPins === 1 ? "has" : "have"} a malformed buyer's PIN: expected ${EXPECTED_PIN}.`,
    );
  if (unknownTypes > 0)
    notes.push(
      `${counted(unknownTypes, "listed document")} ${unknownTypes === 1 ? "has" : "have"} a payment type that is not in the authority's list.`,
    );
  if (shared > 0) notes.push(`${are(shared, "number")} used by two or more listed documents.`);
  if (notIssued > 0)
    notes.push(
      notIssued === 1
        ? `1 sale or credit note of this period is under way and is not known to have a document; it is not listed. ${SEE_OPEN}`
        : `${notIssued} sales and credit notes of this period are under way and are not known to have a document; they are not listed. ${SEE_OPEN}`,
    );
  if (ended > 0)
    notes.push(
      ended === 1
        ? `1 sale or credit note of this period ended before it was known to have a document, and nothing carries it on; it is not listed. ${SEE_ENDED}`
        : `${ended} sales and credit notes of this period ended before they were known to have a document, and nothing carries them on; they are not listed. ${SEE_ENDED}`,
    );
  return notes;
}

const SEE_OPEN = 'See "Open and parked now": fiscalflow report day';
const SEE_ENDED = 'See "Ended without an outcome": fiscalflow report day';

/** Sales and credit notes apart: together, a sale and the credit note that reverses it would come to nothing. */
function signed({ count, sales, creditNotes }: OddAmounts): string {
  const kinds = [
    ...(sales.count > 0
      ? [creditNotes.count > 0 ? `${counted(sales.count, "sale")}: ${sumOf(sales)}` : sumOf(sales)]
      : []),
    ...(creditNotes.count > 0 ? [`${counted(creditNotes.count, "credit note")}: ${sumOf(creditNotes)}`] : []),
  ];
  return `${are(count, "document")} signed (${kinds.join("; ")})`;
}

function sumOf({ taxAmount, total }: Amounts): string {
  return `tax ${money(taxAmount)}, total ${money(total)}`;
}

function are(count: number, noun: string): string {
  return `${counted(count, noun)} ${count === 1 ? "is" : "are"}`;
}
