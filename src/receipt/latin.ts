/** Windows-1252 from 0x80 on; the five codes that it leaves open stand for themselves. */
const FROM_0X80 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ";

/**
 * The text in the characters that every receipt printer and the built-in fonts of PDF have (Windows-1252): a letter
 * that they lack loses its marks (`Wambũi` becomes `Wambui`), and what has no such letter becomes `?`.
 */
export function inLatin(text: string): string {
  // A soft hyphen has a letter there, which printers show.
  return Array.from(text.normalize("NFC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ""), (one) => {
    if (latinCode(one) !== undefined) return one;
    const bare = one.normalize("NFKD").replaceAll(/\p{M}/gu, "");
    return Array.from(bare).every((letter) => latinCode(letter) !== undefined) ? bare : "?";
  }).join("");
}

/** In Windows-1252. @param text of {@link inLatin} */
export function latinBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (one) => latinCode(one) ?? 0x3f);
}

function latinCode(one: string): number | undefined {
  const code = one.codePointAt(0) ?? 0;
  if ((code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff)) return code;
  const index = code > 0xff ? FROM_0X80.indexOf(one) : -1;
  return index < 0 ? undefined : 0x80 + index;
}
