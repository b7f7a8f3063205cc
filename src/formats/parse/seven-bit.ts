/**
 * Decodes charsets that write other scripts in octets below 128, between sequences that switch the
 * script on and off: ISO-2022-JP (RFC 1468), ISO-2022-KR (RFC 1557), ISO-2022-CN (RFC 1922) and HZ
 * (RFC 1843). The Encoding Standard has only ISO-2022-JP; the others are rewritten to an 8-bit
 * charset. Of ISO-2022-CN only the characters of GB 2312 are decoded; each other character becomes
 * U+FFFD. Linear in the text.
 */

type Decoder = (octets: Buffer) => string

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['iso-2022-jp', (octets) => new TextDecoder('iso-2022-jp').decode(withoutEmptyRuns(octets))],
  ['iso-2022-kr', (octets) => new TextDecoder('euc-kr').decode(shiftedToEightBit(octets, 'C'))],
  ['iso-2022-cn', (octets) => new TextDecoder('gbk').decode(shiftedToEightBit(octets, 'A'))],
  ['hz-gb-2312', (octets) => new TextDecoder('gbk').decode(hzToEightBit(octets))],
])

const [LF, CR, SHIFT_OUT, SHIFT_IN, ESCAPE] = [0x0a, 0x0d, 0x0e, 0x0f, 0x1b]
const [TILDE, OPENING, CLOSING] = [0x7e, 0x7b, 0x7d]
/** Sequences that choose a character set in ISO-2022-JP (RFC 1468, RFC 1554, JIS X 0201). */
const JAPANESE_SET = /^\x1b(?:\$[@B]|\([BJI]|\$\(D)/
/**
 * Sequences that choose a character set in ISO-2022-KR and ISO-2022-CN: the set for SHIFT_OUT, or
 * one for single characters.
 */
const SHIFTED_SET = /^\x1b\$([)*+])([A-Z])/
/** ESC N and ESC O (RFC 1922): one character of another set follows, in two octets. */
const SINGLE_SHIFT = /^\x1b[NO][\x21-\x7e\xa1-\xfe]{2}/
/** An octet that is invalid in GBK and in EUC-KR, so that it becomes U+FFFD. */
const UNREADABLE = 0xff

const SIGNS: readonly [charset: string, sign: RegExp][] = [
  ['iso-2022-jp', /\x1b(?:\$[@B]|\([JI])/],
  ['iso-2022-kr', /\x1b\$\)C/],
  ['iso-2022-cn', /\x1b\$[)*+][A-Z]/],
]
/** Sequences that show the charset only if the message also declares it. */
const WEAK_SIGNS: readonly [charset: string, sign: string][] = [
  ['iso-2022-kr', '\x0e'],
  ['hz-gb-2312', '~{'],
]

/** Whether raw text is ASCII, even if the message declares a 7-bit charset elsewhere. */
export function isCertainlyAscii(raw: string): boolean {
  return !/[\x0e\x1b\x80-\xff]|~\{/.test(raw)
}

export function isSevenBit(charset: string): boolean {
  return DECODERS.has(charset)
}

/** Decodes octets in one of these charsets; undefined for any other charset. */
export function decodeSevenBit(octets: Buffer, charset: string): string | undefined {
  return DECODERS.get(charset)?.(octets)
}

/**
 * Guesses the charset of raw text without octets above 127. `declared`: the charsets that the
 * message declares elsewhere.
 */
export function guessSevenBit(
  raw: string,
  declared: readonly (string | undefined)[],
): string | undefined {
  const [charset] =
    SIGNS.find(([, sign]) => sign.test(raw)) ??
    WEAK_SIGNS.find(([name, sign]) => declared.includes(name) && raw.includes(sign)) ??
    []
  return charset
}

/**
 * Removes a sequence that chooses a set if the next sequence follows at once: the Encoding Standard
 * takes it for an error.
 */
function withoutEmptyRuns(octets: Buffer): Buffer {
  const kept = new Octets(octets.length)
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? UNREADABLE
    const set = octet === ESCAPE ? JAPANESE_SET.exec(ahead(octets, at))?.[0] : undefined
    const isEmpty = set !== undefined && JAPANESE_SET.test(ahead(octets, at + set.length))
    if (isEmpty) at += set.length - 1
    else kept.add(octet)
  }
  return kept.all()
}

/** Rewrites HZ to GBK. Each line ends in ASCII, even if its writer forgot to switch back. */
function hzToEightBit(octets: Buffer): Buffer {
  const written = new Octets(octets.length)
  let isChinese = false
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? UNREADABLE
    const next = octet === TILDE ? octets[at + 1] : undefined
    if (octet === LF) isChinese = false
    if (next === (isChinese ? CLOSING : OPENING)) {
      isChinese = !isChinese
      at += 1
    } else if (!isChinese && next === TILDE) {
      written.add(TILDE)
      at += 1
    } else if (!isChinese && (next === LF || next === CR)) {
      at += next === CR && octets[at + 2] === LF ? 2 : 1
    } else {
      written.add(isChinese ? eightBit(octet) : octet)
    }
  }
  return written.all()
}

/**
 * Rewrites ISO-2022-KR or ISO-2022-CN to 8 bits. `readable`: the last octet of the sequence that
 * chooses the set which is decoded.
 */
function shiftedToEightBit(octets: Buffer, readable: string): Buffer {
  const written = new Octets(octets.length)
  let [isShifted, isReadable] = [false, true]
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? UNREADABLE
    if (octet === ESCAPE) {
      const [designation, shift, set] = SHIFTED_SET.exec(ahead(octets, at)) ?? []
      if (shift === ')') isReadable = set === readable
      if (designation === undefined) written.add(UNREADABLE)
      if (designation !== undefined || SINGLE_SHIFT.test(ahead(octets, at))) at += 3
    } else if (octet === SHIFT_OUT || octet === SHIFT_IN) {
      isShifted = octet === SHIFT_OUT
    } else if (isShifted && !isReadable && isPrintable(octet)) {
      written.add(UNREADABLE)
      if (isPrintable(octets[at + 1])) at += 1
    } else {
      if (octet === LF) isShifted = false
      written.add(isShifted ? eightBit(octet) : octet)
    }
  }
  return written.all()
}

function ahead(octets: Buffer, at: number): string {
  return octets.toString('latin1', at, at + 4)
}

function isPrintable(octet: number | undefined): boolean {
  return octet !== undefined && octet > 0x20 && octet < 0x7f
}

function eightBit(octet: number): number {
  return isPrintable(octet) ? octet | 0x80 : octet
}

class Octets {
  readonly #octets: Buffer
  #length = 0

  constructor(maxLength: number) {
    this.#octets = Buffer.alloc(maxLength)
  }

  add(octet: number): void {
    this.#octets[this.#length] = octet
    this.#length += 1
  }

  all(): Buffer {
    return this.#octets.subarray(0, this.#length)
  }
}
