/** Texts of other servers, in which nothing is hidden: control characters show as their numbers. */

// Line ends and tabs stay; joiners and marks of direction could make a text look like another one.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

/** `a<U+0007>b` */
export function visible(text: string): string {
  return text.replace(HIDDEN, (one) => {
    const number = (one.codePointAt(0) ?? 0).toString(16).toUpperCase()
    return `<U+${number.padStart(4, '0')}>`
  })
}
