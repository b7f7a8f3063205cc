/** Texts of other servers, in which nothing is hidden: control characters show as their numbers. */

// Line ends, tabs and the joiners of scripts and emoji stay; changes of direction could make a text look like another.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** `a<U+0007>b` */
export function visible(text: string): string {
  return text.replace(HIDDEN, (one) => {
    const number = (one.codePointAt(0) ?? 0).toString(16).toUpperCase()
    return `<U+${number.padStart(4, '0')}>`
  })
}
