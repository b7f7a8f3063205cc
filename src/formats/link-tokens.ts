/**
 * Finds and hides the tokens of links that this program mails to its users: links that set a
 * password, verify an address or accept an invitation. Bounces and answers quote such mail, so
 * tokens are also found in the encodings of mail: quoted-printable (RFC 2045 section 6.7), percent
 * signs (RFC 3986 section 2.1), HTML references, and lines that a mail program has broken and
 * marked as quoted.
 */

/** Digits of a token: 256 bits in hexadecimal (`features/tenancy/accounts/links/link-tokens.ts`). */
const TOKEN_LENGTH = 64
/**
 * Digits before a token that do not belong to it: a lower-case escape reads as two digits (`%3d`)
 * or as four (`%253d`).
 */
const LEADS = [0, 2, 4]
const MAX_LEAD = 4
/** Characters of the longest path before a token, if it is encoded twice and broken over lines. */
const MAX_PATH_LENGTH = 160

const HIDDEN = '…'
/** A soft or hard line break, with the `>`, spaces and tabs that mark the quoted line after it. */
const BREAK = /=?\r?\n[>\t ]{0,16}/g
const HARD_BREAK = /\r?\n[>\t ]{0,16}/g
const MAX_MARKS = 16
const [EQUALS, CR, LF] = [0x3d, 0x0d, 0x0a]
/** The characters `>`, space and tab, which mark a quoted line. */
const MARKS = [0x3e, 0x20, 0x09]
const DIGIT = /[0-9a-f]/g
const PATH = /\/(?:auth\/(?:reset-password|verify-email)\?token=|invitations\/)$/i
/** Characters of the shortest piece of a secret that is hidden; shorter pieces help nobody. */
const PIECE_LENGTH = 12

const REFERENCES: Readonly<Record<string, string>> = { sol: '/', quest: '?', equals: '=' }

/** The place of a token in a text; the token may have line breaks in it. */
type Span = { from: number; to: number }

/**
 * Returns the tokens of the links in a text, if no program has encoded the text or broken its
 * lines.
 */
export function findLinkTokens(text: string): string[] {
  const tokens = findTokens(text).map(({ from, to }) => text.slice(from, to))
  return [...new Set(tokens)]
}

/** Returns the text with `…` in place of the tokens of its links. */
export function hideLinkTokens(text: string): string {
  return replaceTokens(text, () => HIDDEN)
}

/** Returns the text with each digit of the links' tokens replaced by a zero. */
export function zeroLinkTokens(text: string): string {
  return replaceTokens(text, (run) => run.replace(DIGIT, '0'))
}

/**
 * Hides secrets that a receiver quotes in its reply: returns the text without the secrets and
 * without pieces of them, in clear or in base64.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const isSecret = new Uint8Array(text.length)
  for (const form of secrets.flatMap(formsOf)) markPieces(isSecret, text, form)
  if (!isSecret.includes(1)) return text
  let shown = ''
  for (let at = 0; at < text.length; at += 1) {
    if (isSecret[at] === 0) shown += text[at]
    else if (isSecret[at - 1] !== 1) shown += HIDDEN
  }
  return shown
}

/**
 * The forms in which a secret may be quoted: itself, and the characters of its base64 that do not
 * depend on the text around it.
 */
function formsOf(secret: string): string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]).toString('base64')
    return text.replace(/={1,2}$/, '').slice(shift === 0 ? 0 : shift + 1, -1)
  })
  return [secret, ...encoded]
}

function markPieces(isSecret: Uint8Array, text: string, form: string): void {
  for (let from = 0; from + PIECE_LENGTH <= form.length; from += 1) {
    const piece = form.slice(from, from + PIECE_LENGTH)
    for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + 1)) {
      isSecret.fill(1, at, at + PIECE_LENGTH)
    }
  }
}

function replaceTokens(text: string, replace: (token: string) => string): string {
  let shown = ''
  let shownTo = 0
  for (const { from, to } of findTokens(text)) {
    shown += text.slice(shownTo, from) + replace(text.slice(from, to))
    shownTo = to
  }
  return shown + text.slice(shownTo)
}

/**
 * Finds the tokens in a text: looks for runs of digits that are long enough, which few texts have,
 * and reads each run again. No text is read more than twice.
 */
function findTokens(text: string): Span[] {
  const found: Span[] = []
  let count = 0
  let start = 0
  let at = 0
  while (at < text.length) {
    if (isDigit(text.charCodeAt(at))) {
      if (count === 0) start = at
      count += 1
      at += 1
      continue
    }
    const next = count === 0 ? at : skipBreak(text, at)
    if (next > at && isDigit(text.charCodeAt(next))) {
      at = next
      continue
    }
    if (count >= TOKEN_LENGTH) found.push(...findToken(text, listDigits(text, start)))
    count = 0
    at += 1
  }
  if (count >= TOKEN_LENGTH) found.push(...findToken(text, listDigits(text, start)))
  return found
}

/**
 * Returns the offsets of the first digits of the run that begins at `start`, no more than a token
 * and its lead can have.
 */
function listDigits(text: string, start: number): number[] {
  const digits: number[] = []
  let at = start
  while (digits.length < TOKEN_LENGTH + MAX_LEAD && isDigit(text.charCodeAt(at))) {
    digits.push(at)
    at += 1
    if (!isDigit(text.charCodeAt(at))) at = skipBreak(text, at)
  }
  return digits
}

/** Finds the token in a run of digits. `digits`: the offsets of the digits. */
function findToken(text: string, digits: readonly number[]): Span[] {
  for (const lead of LEADS) {
    const from = digits[lead]
    const last = digits[lead + TOKEN_LENGTH - 1]
    if (from === undefined || last === undefined) return []
    const before = text.slice(Math.max(0, from - MAX_PATH_LENGTH), from)
    // A `=` before a line break may belong to the link or to a soft line break: both readings are
    // tried.
    if ([BREAK, HARD_BREAK].some((pattern) => PATH.test(decode(before.replace(pattern, ''))))) {
      return [{ from, to: last + 1 }]
    }
  }
  return []
}

/** Whether the character is a lower-case hexadecimal digit. */
function isDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102)
}

/** Returns the offset after the line break at `at`; `at` itself if no break is there. */
function skipBreak(text: string, at: number): number {
  let next = at
  if (text.charCodeAt(next) === EQUALS) next += 1
  if (text.charCodeAt(next) === CR) next += 1
  if (text.charCodeAt(next) !== LF) return at
  next += 1
  for (let marks = 0; marks < MAX_MARKS && MARKS.includes(text.charCodeAt(next)); marks += 1) {
    next += 1
  }
  return next
}

/**
 * Decodes quoted-printable, then percent-encoding, also of a link inside a link (`%253d`), then
 * HTML references.
 */
function decode(text: string): string {
  return text
    .replace(/=([0-9A-F]{2})/g, fromHex)
    .replace(/%(?:25)*([0-9a-f]{2})/gi, fromHex)
    .replace(/&#x([0-9a-f]{1,4});/gi, fromHex)
    .replace(/&#(\d{1,5});/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/&(sol|quest|equals);/g, (_, name) => REFERENCES[name] ?? '')
}

function fromHex(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}
