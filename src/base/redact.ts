/**
 * Removes from a line of the log what it may not say, whoever wrote the line:
 *
 *   always           secrets, tokens, queries of URLs, and fields that hold content (subject, body, headers)
 *   above `debug`    addresses: `alice@example.com` becomes `a…@example.com`
 *
 * Secrets are found by their form: a known prefix, a name before them, or a long run of letters and digits.
 * Ids of rows (UUIDs) and names of hosts, files and error codes do not have that form.
 */

type RedactOptions = { showsAddresses: boolean }

const HIDDEN = '…'
/** A text may be as long as a stack trace. */
const MAX_TEXT_LENGTH = 8_000
const MAX_DEPTH = 4
/** The line of a dropped batch names all of its emails. */
const MAX_ENTRIES = 10_000

/** Fields that hold secrets or content, by a word of their names. */
const PRIVATE_FIELD =
  /^(subject|body|html|text|raw|content|payload|headers?|query|data|variables|cookies?|password|code)$|password|secret|token|authorization|credential|signature|apikey|privatekey/i
/** `code` is that of an error or a reply, unless it is one of a second factor. */
const ERROR_CODE = /^([A-Z][A-Z0-9_]*|\d{3}( \d\.\d{1,3}\.\d{1,3})?|\d\.\d{1,3}\.\d{1,3})$/

/** Texts that hold no secret: short words, numbers, UUIDs. Most values are such texts. */
const HARMLESS = /^([a-z0-9 .,-]{1,20}|[0-9a-f]{8}-[0-9a-f-]{27})$/i

/** Most addresses, in small letters: no part is as long as a secret, and none begins like a web token. */
const PLAIN_ADDRESS = /^([a-z0-9])[a-z0-9.+]{0,22}@((?:[a-z0-9-]{1,23}\.){1,8}[a-z0-9-]{1,23})$/

/** Parameters of a statement, which drizzle adds to its errors. */
const PARAMETERS = /\bparams: [\s\S]*/
const USER_OF_URL = /(\w:\/\/)[^\s/@"'<>]*@/g
const QUERY = /(?<=\S)\?[\w%&=][^\s"'<>]*/g
const SCHEME = /\b(bearer|basic)\s+[^\s"',;]+/gi
const NAMED_SECRET =
  /\b(\w*(?:password|passwd|secret|token|api[_-]?key|authorization|cookie|signature))(["']?\s?[:=]\s?["']?)[^\s"',;&}]+/gi
const PREFIXED = /\b(sk|pk|rk|whsec)_\w+/g
/** JSON Web Tokens (RFC 7519). */
const WEB_TOKEN = /\beyJ[\w-]+(\.[\w-]*)+/g
const RUN = /[\w-]{24}[\w-]*/g
const LONG_WORD = /[A-Za-z0-9]{24}[A-Za-z0-9]*/g
const MIXED_LENGTH = 32
const MIXED_SHARE = 0.25
/** A quoted local part has at most 64 octets (RFC 5321 section 4.5.3.1.1). */
const QUOTED_LOCAL_PART = /"(?:[^"\\\r\n]|\\.){0,64}"@/g
/**
 * Each run is taken as a whole, also without an `@` after it: a search for one from every character would
 * take the square of the time. An apostrophe counts between letters.
 */
const LOCAL_PART = /((?:[^\s<>"'(),;:@]|(?<=\p{L})'(?=\p{L}))+)(@?)/gu
const ENCODED_LOCAL_PART = /((?:[^\s<>"'(),;:/?&=%]|%(?!40)[0-9a-f]{2})+)((?:%40)?)/giu

/** Takes the fields of a line. Errors must be plain objects by then. */
export function redactFields(
  fields: Readonly<Record<string, unknown>>,
  options: RedactOptions,
  depth = 0,
): Record<string, unknown> {
  const redacted: Record<string, unknown> = {}
  let count = 0
  for (const name of Object.keys(fields)) {
    if (count === MAX_ENTRIES) break
    count += 1
    const value = redactField(name, fields[name], { options, depth })
    setOwn(redacted, redactText(name, options), value)
  }
  return redacted
}

/** Sets the property even if its name is `__proto__`. */
function setOwn(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') record[name] = value
  else Object.defineProperty(record, name, { value, enumerable: true })
}

/** The id of a request may be a client's own. It has no characters of an address. */
function redactField(
  name: string,
  value: unknown,
  { options, depth }: { options: RedactOptions; depth: number },
): unknown {
  if (isPrivate(name, value)) return HIDDEN
  if (name === 'requestId' && typeof value === 'string')
    return value.replace(PREFIXED, `$1_${HIDDEN}`)
  return redactValue(value, options, depth)
}

export function redactText(text: string, { showsAddresses }: RedactOptions): string {
  if (HARMLESS.test(text)) return text
  const address = showsAddresses ? null : PLAIN_ADDRESS.exec(text)
  if (address !== null) return `${address[1]}${HIDDEN}@${address[2]}`
  const safe = text
    .slice(0, MAX_TEXT_LENGTH)
    .replace(PARAMETERS, `params: ${HIDDEN}`)
    .replace(USER_OF_URL, '$1')
    .replace(QUERY, '')
    .replace(SCHEME, `$1 ${HIDDEN}`)
    .replace(NAMED_SECRET, `$1$2${HIDDEN}`)
    .replace(PREFIXED, `$1_${HIDDEN}`)
    .replace(WEB_TOKEN, HIDDEN)
    .replace(RUN, hideSecret)
  return showsAddresses ? safe : maskAddresses(safe)
}

/** Replaces addresses in a text: `alice@example.com` becomes `a…@example.com`. */
export function maskAddresses(text: string): string {
  if (!text.includes('@') && !text.includes('%40')) return text
  return text
    .replace(QUOTED_LOCAL_PART, `${HIDDEN}@`)
    .replace(LOCAL_PART, maskLocalPart)
    .replace(ENCODED_LOCAL_PART, maskLocalPart)
}

/** A slash before the `@` is that of a path: `node_modules/@scope`. */
function maskLocalPart(all: string, localPart: string, at: string): string {
  if (at === '' || localPart === HIDDEN || localPart.endsWith('/')) return all
  const [first = ''] = localPart
  return `${first}${HIDDEN}${at}`
}

function isPrivate(name: string, value: unknown): boolean {
  if (value == null || typeof value === 'number' || typeof value === 'boolean') return false
  if (name === 'code' && typeof value === 'string') return !ERROR_CODE.test(value)
  return PRIVATE_FIELD.test(name)
}

function redactValue(value: unknown, options: RedactOptions, depth: number): unknown {
  if (typeof value === 'string') return redactText(value, options)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return value
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  if (depth === MAX_DEPTH) return HIDDEN
  if (value instanceof Set || value instanceof Map) return redactValue([...value], options, depth)
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ENTRIES).map((each) => redactValue(each, options, depth + 1))
  }
  return redactFields(value as Record<string, unknown>, options, depth + 1)
}

function hideSecret(run: string): string {
  if (run.length >= MIXED_LENGTH && isMixed(run)) return HIDDEN
  return run.replace(LONG_WORD, (word) =>
    /\d/.test(word) && /[A-Za-z]/.test(word) ? HIDDEN : word,
  )
}

/**
 * Says whether small and large letters follow each other as in a random text. One random text of 43
 * characters in 1,500 has no digit. In a name of program code fewer letters are large.
 */
function isMixed(run: string): boolean {
  const small = run.match(/[a-z]/g)?.length ?? 0
  const large = run.match(/[A-Z]/g)?.length ?? 0
  if (/\d/.test(run)) return small > 0 && large > 0
  return Math.min(small, large) >= MIXED_SHARE * (small + large)
}
