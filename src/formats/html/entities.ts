/**
 * Character references of HTML: numeric ones and the names of HTML 4 (`&nbsp;`, `&eacute;`,
 * `&euro;`), which are those that occur in mail. Names that only HTML 5 defines stay unchanged.
 */

/** The names of the characters U+00A0 to U+00FF, in order. */
const LATIN1_NAMES =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn ' +
  'sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave ' +
  'Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ' +
  'ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN ' +
  'szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave ' +
  'iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc ' +
  'uuml yacute thorn yuml'

/**
 * The names of the characters U+0391 to U+03C9, in order; `-` stands for a character without a
 * name.
 */
const GREEK_NAMES =
  'Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - ' +
  'Sigma Tau Upsilon Phi Chi Psi Omega - - - - - - - alpha beta gamma delta epsilon zeta eta ' +
  'theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega'

/** Pairs of a name and its code point in hexadecimal. */
const OTHER_NAMES =
  'amp 26 lt 3c gt 3e quot 22 apos 27 OElig 152 oelig 153 Scaron 160 scaron 161 Yuml 178 fnof 192 ' +
  'circ 2c6 tilde 2dc thetasym 3d1 upsih 3d2 piv 3d6 ensp 2002 emsp 2003 thinsp 2009 zwnj 200c ' +
  'zwj 200d lrm 200e rlm 200f ndash 2013 mdash 2014 lsquo 2018 rsquo 2019 sbquo 201a ldquo 201c ' +
  'rdquo 201d bdquo 201e dagger 2020 Dagger 2021 bull 2022 hellip 2026 permil 2030 prime 2032 ' +
  'Prime 2033 lsaquo 2039 rsaquo 203a oline 203e frasl 2044 euro 20ac image 2111 weierp 2118 ' +
  'real 211c trade 2122 alefsym 2135 larr 2190 uarr 2191 rarr 2192 darr 2193 harr 2194 crarr 21b5 ' +
  'lArr 21d0 uArr 21d1 rArr 21d2 dArr 21d3 hArr 21d4 forall 2200 part 2202 exist 2203 empty 2205 ' +
  'nabla 2207 isin 2208 notin 2209 ni 220b prod 220f sum 2211 minus 2212 lowast 2217 radic 221a ' +
  'prop 221d infin 221e ang 2220 and 2227 or 2228 cap 2229 cup 222a int 222b there4 2234 sim 223c ' +
  'cong 2245 asymp 2248 ne 2260 equiv 2261 le 2264 ge 2265 sub 2282 sup 2283 nsub 2284 sube 2286 ' +
  'supe 2287 oplus 2295 otimes 2297 perp 22a5 sdot 22c5 lceil 2308 rceil 2309 lfloor 230a ' +
  'rfloor 230b lang 27e8 rang 27e9 loz 25ca spades 2660 clubs 2663 hearts 2665 diams 2666'

/** The characters that browsers read for the references &#128; to &#159; (windows-1252). */
const WINDOWS_1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178'

/** Characters of the longest reference that is decoded, with `&` and `;`. */
export const MAX_REFERENCE_LENGTH = 12

const NAMES = entityNames()

/** Replaces the known character references of a text. Linear time. */
export function decodeEntities(text: string): string {
  let at = text.indexOf('&')
  if (at === -1) return text
  let decoded = ''
  let copied = 0
  while (at !== -1) {
    const end = referenceEnd(text, at + 1)
    const char = decodeReference(text.slice(at + 1, end), text[end])
    if (char !== undefined) {
      decoded += text.slice(copied, at) + char
      copied = text[end] === ';' ? end + 1 : end
    }
    at = text.indexOf('&', at + 1)
  }
  return decoded + text.slice(copied)
}

/**
 * Decodes one reference. A name without its semicolon counts only if it is one of the oldest, as in
 * `&copy 2026`, and no `=` follows it, as in `?a=1&copy=2`.
 */
function decodeReference(reference: string, next: string | undefined): string | undefined {
  if (reference.startsWith('#')) return decodeNumber(reference)
  const char = NAMES.get(reference)
  if (char === undefined || next === ';') return char
  return char <= '\xff' && reference !== 'apos' && next !== '=' ? char : undefined
}

/** The offset after a run of at most ten letters, digits and number signs. */
function referenceEnd(text: string, from: number): number {
  const limit = Math.min(text.length, from + MAX_REFERENCE_LENGTH - 2)
  let at = from
  while (at < limit && isReferenceCharacter(text.charCodeAt(at))) at += 1
  return at
}

function isReferenceCharacter(code: number): boolean {
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x23
}

function decodeNumber(reference: string): string | undefined {
  const match = /^#(?:[xX]([\da-fA-F]+)|(\d+))$/.exec(reference)
  if (match === null) return undefined
  const code = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16)
  if (code >= 0x80 && code < 0xa0) return WINDOWS_1252[code - 0x80] ?? ''
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : '\ufffd'
}

function entityNames(): Map<string, string> {
  const map = new Map<string, string>()
  for (const [index, name] of LATIN1_NAMES.split(' ').entries()) {
    map.set(name, String.fromCharCode(0xa0 + index))
  }
  for (const [index, name] of GREEK_NAMES.split(' ').entries()) {
    map.set(name, String.fromCharCode(0x391 + index))
  }
  const pairs = OTHER_NAMES.split(' ')
  for (let index = 0; index < pairs.length; index += 2) {
    const code = Number.parseInt(pairs[index + 1] ?? '', 16)
    map.set(pairs[index] ?? '', String.fromCodePoint(code))
  }
  map.delete('-')
  return map
}
