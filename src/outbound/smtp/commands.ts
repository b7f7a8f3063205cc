/**
 * Commands of SMTP and their time limits: parses the server's capabilities (EHLO, RFC 5321 section 4.1.1.1), builds the
 * envelope commands, prepares the message for DATA (section 4.5.2), and limits the time of each phase of a session
 * (section 4.5.3.2 names some of the limits). One character is one octet.
 *
 * A value that could end or extend a command line is a bug of this program and throws a TypeError.
 */

import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts'
import { MAX_PATH_OCTETS } from '../../formats/limits.ts'
import { classifyLocally } from '../../formats/replies/classify-reply.ts'
import type { ReplyVerdict } from '../../formats/replies/reply.ts'
import { createTextBuilder } from '../../formats/text-builder.ts'

export type SmtpCapabilities = {
  hasStarttls: boolean
  hasPipelining: boolean
  has8bitmime: boolean
  hasSmtputf8: boolean
  hasSize: boolean
  /** Octets; 0 = no limit announced. */
  maxSizeBytes: number
}

export const NO_SMTP_CAPABILITIES: SmtpCapabilities = {
  hasStarttls: false,
  hasPipelining: false,
  has8bitmime: false,
  hasSmtputf8: false,
  hasSize: false,
  maxSizeBytes: 0,
}

export type MessageNeeds = { sizeBytes: number; has8bit: boolean; needsSmtputf8: boolean }

export type SmtpEnvelope = {
  /** '' = the null reverse-path. */
  reversePath: string
  recipient: string
  needsSmtputf8: boolean
}

export type PreparedData = {
  /** The message with its dots stuffed. */
  octets: string
  /** Sent after `octets`: the end of the last line, if missing, and the final dot. */
  ending: string
  /** Octets of the message itself, as SIZE counts them. */
  sizeBytes: number
  has8bit: boolean
}

const CR = 13

const DOT = 46

export type SmtpTimeouts = {
  connect: number
  greeting: number
  /** The replies to EHLO, HELO, STARTTLS and RSET. */
  command: number
  /** The TLS handshake. */
  handshake: number
  mail: number
  rcpt: number
  data: number
  /** Writing one block of the message. */
  block: number
  /** The reply to the final dot. */
  message: number
  quit: number
  /** The whole opening of a session, and the whole sending of each message. */
  whole: number
}

export const DEFAULT_TIMEOUTS: SmtpTimeouts = {
  connect: 30 * SECOND_MS,
  greeting: 5 * MINUTE_MS,
  command: 5 * MINUTE_MS,
  handshake: MINUTE_MS,
  mail: 5 * MINUTE_MS,
  rcpt: 5 * MINUTE_MS,
  data: 2 * MINUTE_MS,
  block: 3 * MINUTE_MS,
  message: 10 * MINUTE_MS,
  quit: 5 * SECOND_MS,
  whole: 60 * MINUTE_MS,
}

/** `lines`: the lines of the reply to EHLO; the first holds the server's name and greeting. */
export function parseCapabilities(lines: readonly string[]): SmtpCapabilities {
  const capabilities = { ...NO_SMTP_CAPABILITIES }
  for (const line of lines.slice(1)) {
    const [keyword = '', parameter = ''] = line.trim().split(/\s+/, 2)
    switch (keyword.toUpperCase()) {
      case 'STARTTLS':
        capabilities.hasStarttls = true
        break
      case 'PIPELINING':
        capabilities.hasPipelining = true
        break
      case '8BITMIME':
        capabilities.has8bitmime = true
        break
      case 'SMTPUTF8':
        capabilities.hasSmtputf8 = true
        break
      case 'SIZE':
        capabilities.hasSize = true
        capabilities.maxSizeBytes = /^\d{1,15}$/.test(parameter) ? Number(parameter) : 0
        break
      default:
    }
  }
  return capabilities
}

/** Returns the server's own name: the first word of its greeting or of its reply to EHLO. */
export function namedHost(firstLine: string): string {
  const [word = ''] = firstLine.trim().split(/\s+/, 1)
  return word.toLowerCase().replace(/\.$/, '')
}

/** Returns the reason why the server cannot accept the message; null if there is none. */
export function refuseLocally(
  capabilities: SmtpCapabilities,
  needs: MessageNeeds,
): { verdict: ReplyVerdict; error: string } | null {
  const { maxSizeBytes } = capabilities
  if (needs.needsSmtputf8 && !capabilities.hasSmtputf8) {
    return {
      verdict: classifyLocally('smtputf8'),
      error: '5.6.7 the message needs SMTPUTF8, which the server does not offer',
    }
  }
  if (maxSizeBytes > 0 && needs.sizeBytes > maxSizeBytes) {
    return {
      verdict: classifyLocally('size'),
      error: `5.3.4 the message has ${needs.sizeBytes} octets, the server accepts ${maxSizeBytes}`,
    }
  }
  if (needs.has8bit && !capabilities.has8bitmime) {
    return {
      verdict: classifyLocally('8bit'),
      error: '5.6.3 the message has 8-bit data, which the server does not accept',
    }
  }
  return null
}

/** @throws TypeError while the session sends a message */
export function checkIdle(isBusy: boolean): void {
  if (isBusy) throw new TypeError('A session sends one message at a time.')
}

/** @throws TypeError for CR, LF, NUL, blanks, brackets, and non-ASCII without SMTPUTF8 */
export function checkEnvelope({ reversePath, recipient, needsSmtputf8 }: SmtpEnvelope): void {
  if (recipient === '') throw new TypeError('An envelope needs a recipient.')
  checkPath('reverse-path', reversePath, needsSmtputf8)
  checkPath('recipient', recipient, needsSmtputf8)
}

/** `name`: a host name or address literal. @throws TypeError if it would break the EHLO line */
export function checkEhloName(name: string): void {
  if (!/^[!-~]{1,255}$/.test(name)) throw new TypeError('The EHLO name is not a host name.')
}

/** Returns "MAIL FROM:<…> …" without the line end. */
export function mailCommand({
  envelope: { reversePath },
  needs: { sizeBytes, has8bit, needsSmtputf8 },
  capabilities,
}: {
  envelope: SmtpEnvelope
  needs: MessageNeeds
  capabilities: SmtpCapabilities
}): string {
  let command = `MAIL FROM:<${octetsOf(reversePath)}>`
  if (capabilities.hasSize) command += ` SIZE=${sizeBytes}`
  if (capabilities.has8bitmime && (has8bit || needsSmtputf8)) command += ' BODY=8BITMIME'
  if (needsSmtputf8) command += ' SMTPUTF8'
  return command
}

/** Returns "RCPT TO:<…>" without the line end. */
export function rcptCommand({ recipient }: SmtpEnvelope): string {
  return `RCPT TO:<${octetsOf(recipient)}>`
}

/**
 * Prepares a message for DATA.
 * @throws TypeError for an empty message, a character above 0xff, and a lone CR or LF: a receiver
 * that accepts one as the end of a line could be made to see a second message (smuggling)
 */
export function prepareData(message: string): PreparedData {
  if (message === '') throw new TypeError('A message must not be empty.')
  // A character above 0xff, truncated to 8 bits, could become a CR or LF.
  if (/[^\x00-\xff]/.test(message)) throw new TypeError('A message must consist of octets only.')
  const octets = stuffDots(message)
  const isEnded = message.endsWith('\n')
  return {
    octets,
    ending: isEnded ? '.\r\n' : '\r\n.\r\n',
    sizeBytes: message.length + (isEnded ? 0 : 2),
    has8bit: Buffer.byteLength(message) !== message.length,
  }
}

/**
 * A time limit that is set again for every reply. Calls `onDue` once for each limit that passes. A
 * later limit does not restart the timer: when the timer fires too early, it is set again for the
 * remaining time.
 */
export function createDeadline(onDue: () => void) {
  let dueAt = Number.POSITIVE_INFINITY
  let firesAt = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  /** Counts from now; null = no limit. */
  function set(limitMs: number | null): void {
    dueAt = limitMs === null ? Number.POSITIVE_INFINITY : performance.now() + limitMs
    if (dueAt < firesAt) startTimer()
  }

  function startTimer(): void {
    clearTimeout(timer)
    firesAt = dueAt
    timer = setTimeout(fire, Math.ceil(dueAt - performance.now()))
  }

  function fire(): void {
    firesAt = Number.POSITIVE_INFINITY
    if (dueAt === Number.POSITIVE_INFINITY) return
    if (performance.now() < dueAt) {
      startTimer()
      return
    }
    dueAt = Number.POSITIVE_INFINITY
    onDue()
  }

  return { set, stop: () => clearTimeout(timer) }
}

function checkPath(name: string, path: string, needsSmtputf8: boolean): void {
  if (path.length <= MAX_PATH_OCTETS && /^[!-;=?-~]*$/.test(path)) return
  if (/[\u0000-\u0020\u007f-\u009f<>]/.test(path) || !path.isWellFormed()) {
    throw new TypeError(`The ${name} contains a character that is not allowed in an SMTP path.`)
  }
  if (!needsSmtputf8 && !isAscii(path)) {
    throw new TypeError(`The ${name} is not ASCII, and the message does not ask for SMTPUTF8.`)
  }
  if (Buffer.byteLength(path) > MAX_PATH_OCTETS) {
    throw new TypeError(`The ${name} has more than ${MAX_PATH_OCTETS} octets.`)
  }
}

function octetsOf(path: string): string {
  return isAscii(path) ? path : Buffer.from(path).toString('latin1')
}

function isAscii(path: string): boolean {
  return !/[^\u0000-\u007f]/.test(path)
}

/** Doubles the dots at the beginning of lines. Hot: runs for every message. */
function stuffDots(message: string): string {
  const stuffed = createTextBuilder()
  if (message.charCodeAt(0) === DOT) stuffed.add('.')
  let start = 0
  let lineEnds = 0
  for (let at = message.indexOf('\n'); at !== -1; at = message.indexOf('\n', at + 1)) {
    if (message.charCodeAt(at - 1) !== CR) throwStray()
    lineEnds++
    if (message.charCodeAt(at + 1) !== DOT) continue
    stuffed.add(`${message.slice(start, at + 1)}.`)
    start = at + 1
  }
  // Each LF has its CR. Any further CR is a lone one.
  for (let at = message.indexOf('\r'); at !== -1; at = message.indexOf('\r', at + 1)) lineEnds--
  if (lineEnds !== 0) throwStray()
  return stuffed.isEmpty() ? message : stuffed.text() + message.slice(start)
}

function throwStray(): never {
  throw new TypeError('A message must contain CR and LF only as CRLF.')
}
