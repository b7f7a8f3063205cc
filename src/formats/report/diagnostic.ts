/**
 * Reads reply code, enhanced status code and command from a diagnostic text, and reduces SMTP
 * sessions that reports quote. Sendmail writes them as `>>> RCPT To:<…>` and `<<< 550 …`, Postfix
 * as `In:` and `Out:`, others with arrows.
 */
import type { Stage } from '../replies/reply.ts'

export type Diagnosis = {
  /** A code of RFC 5321 from 400 to 599, or 2yz for delivered mail; null if the text has none. */
  replyCode: number | null
  /** An enhanced code (RFC 3463); null if the text has none. */
  status: string | null
  /** The command that the other server replied to, if the text names it. */
  command: Stage | null
}

const MAX_LENGTH = 8_000

const STATUS = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d]|\.\d)/g
const REPLY_CODE =
  /(?<![\w.=/@-])([245][0-5]\d)(?![ \t]{0,3}(?:[kmg]?b|[kmg]?i?bytes?|kilobytes?|megabytes?|octets?|characters?|chars|lines?|messages?|mails?|e-?mails?|recipients?|rcpts?|users|connections?|sessions?|seconds?|secs?|minutes?|mins?|hours?|days?|times?|attempts?|tries|retries|errors|hops)\b)(?=[ \t]{1,3}["'<([#*:\p{L}]|[ \t]\d{1,3}[ \t]\p{Lu}|[ \t-]{1,3}(?:#?[245]\.\d|[\p{L}<"'([])|[,;:]|[ \t]{0,3}$|[-\t ]{1,3}https?:)/gu

/** Matches words before a number which is a size, a count or a port, and no reply code. */
const COUNTED =
  /\b(?:limit|limit of|limit is|limited to|size|size of|maximum|max|maximum of|maximum is|is|than|exceeds?|exceeding|exceeded|port|ports|count|count of|after|tried|least|most|up to|every|within|about|of|and|by|has|have|had|for)[ :=]{1,2}$/i

const COMMANDS: readonly [Stage, RegExp][] = [
  [
    'message',
    /end of (?:the )?data|after (?:sending )?data block|after (?:sending )?(?:the )?(?:data|body|message)\b|\[body\]|failed after i sent the message|our final data|(?:for|after) text command|\(state 1[5-8]\)/,
  ],
  [
    'rcpt',
    /does not like recipient|(?:after|reply to|response to|our|was|>>>|-->|sent:|smtp:|during|at|following|[[(]) ?(?:the )?(?:pipelined )?rcpt|rcpt[ _]to (?:response|command|not accepted)|rcpt command|\(state 1[234]\)/,
  ],
  [
    'mail',
    /(?:after|reply to|response to|our|>>>|during|at|[[(]) ?(?:the )?(?:pipelined )?mail[ _]from|smtp:mail|mail command|but sender was rejected|\(state 9\)/,
  ],
  ['data', /(?:to|after|our) data\b|\[data\]|>>> data|smtp:data|data command|smtp command\s+data/],
  [
    'greeting',
    /refused to talk to me|initial connection|but greeting failed|while waiting for (?:the )?greeting/,
  ],
  [
    'ehlo',
    /(?:after|reply to|response to|our|to|during|at|>>>|-->|smtp:|\[) ?(?:the )?(?:ehlo|helo|lhlo)\b|my name was rejected/,
  ],
]

type CommandAndReply = { command: string; code: number; lines: string[] }

const MAX_LINES = 1_200

const COMMAND_LINE =
  /^[\s>]{0,20}?(?:>>>|-->|->|In: |C: |CMD: |Sent <<<) {0,3}((?:helo|ehlo|lhlo|mail|rcpt|data|bdat|starttls|auth|quit|rset)\b[^\n]{0,300})/i
const REPLY_LINE =
  /^[\s>]{0,20}?(?:<<<|<--|<-|Out: |S: |RSP: |Received >>>) {0,3}((\d{3})\b([ -]?)[^\n]{0,1000})/i

const MISSING_RECIPIENT = /need rcpt|no valid recipients|valid rcpt|rcpt first/i
/** Matches replies that only follow from an earlier refusal. */
const CONSEQUENCE = /^(?:503|221)/

export function readDiagnosis(text: string): Diagnosis {
  const bounded = text.slice(0, MAX_LENGTH)
  const status = pickStatus(bounded)
  return { replyCode: pickCode(bounded, status), status, command: readCommand(bounded) }
}

/**
 * Returns the most specific code in a text. A code of success is returned only if there is no
 * other.
 */
function pickStatus(text: string): string | null {
  const codes = Array.from(text.matchAll(STATUS), (match) => match[0])
  const refusals = codes.filter((code) => !code.startsWith('2'))
  return mostSpecific(refusals.length > 0 ? refusals : codes)
}

/** Returns the first code of the most specific ones; null for no codes. */
export function mostSpecific(codes: readonly string[]): string | null {
  const highest = Math.max(...codes.map(specificity))
  return codes.find((code) => specificity(code) === highest) ?? null
}

/**
 * How specific a code is: only a class (0); a subject without a detail, or a code that systems use
 * for want of a better one: expired, system fault, protocol fault (1); 5.1.1, which some use for any
 * refusal (2); all others (3).
 */
export function specificity(code: string): number {
  if (isVague(code)) return 0
  if (/^\d\.(?:\d{1,3}\.0|4\.7|5\.[1245])$|^5\.3\./.test(code)) return 1
  return code === '5.1.1' ? 2 : 3
}

/** Whether a code, such as `5.0.0`, has no more information than its first digit. */
export function isVague(status: string | null): boolean {
  return status === null || /^[245]\.0\.0$/.test(status)
}

function pickCode(text: string, status: string | null): number | null {
  if (status !== null) {
    const at = text.lastIndexOf(status)
    const before = /(?<!\d)([245][0-5]\d)[ \t#'"-]{1,3}$/.exec(text.slice(Math.max(0, at - 8), at))
    if (before !== null) return Number(before[1])
  }
  const codes = Array.from(text.matchAll(REPLY_CODE))
    .filter(({ index }) => !COUNTED.test(text.slice(Math.max(0, index - 30), index)))
    .map(([, code]) => Number(code))
  return codes.find((code) => code >= 400) ?? codes[0] ?? null
}

/**
 * Returns the command of the first refusal in a transcript; without a transcript, the command that
 * the prose names.
 */
function readCommand(text: string): Stage | null {
  const bounded = text.slice(0, MAX_LENGTH).toLowerCase()
  const refusal = /<<< ?[45]\d\d/.exec(bounded)
  const scope = refusal === null ? bounded : lastCommandBefore(bounded, refusal.index)
  return COMMANDS.find(([, pattern]) => pattern.test(scope))?.[0] ?? null
}

function lastCommandBefore(text: string, at: number): string {
  const start = text.lastIndexOf('>>>', at)
  return start === -1 ? '' : text.slice(start, at)
}

/**
 * Reduces the session that a text quotes to its last refusal, preferably of this recipient. A text
 * without a session stays as it is.
 */
export function reduceTranscript(text: string, recipient: string): string {
  const lines = text.split('\n', MAX_LINES)
  const first = lines.findIndex((line) => REPLY_LINE.test(line))
  if (first === -1) return text
  const refusal = pickRefusal(correctPipelined(listExchanges(lines)), recipient)
  const others = lines.map((line) => (isSession(line) ? '' : line))
  const kept = refusal === undefined ? [] : [`>>> ${refusal.command}`, ...refusal.lines]
  return [...others.slice(0, first), ...kept, ...others.slice(first)].join('\n')
}

/** Returns the complete reply that begins with `reply`, if a session in the text quotes one. */
export function completeReply(text: string, reply: string): string {
  const start = reply.replace(/\s+/g, ' ').trim()
  if (start.length < 4) return reply
  const lines = text.split('\n', MAX_LINES)
  const whole = listExchanges(lines)
    .map((exchange) => exchange.lines.map((line) => line.replace(/^<<< /, '')).join(' '))
    .find((one) => one.length > start.length && one.startsWith(start))
  return whole ?? reply
}

function isConsequence(line: string): boolean {
  return MISSING_RECIPIENT.test(line) || CONSEQUENCE.test(line.replace(/^<<< /, ''))
}

function isSession(line: string): boolean {
  return REPLY_LINE.test(line) || COMMAND_LINE.test(line)
}

/**
 * Assigns refusals to the right command. With pipelining (RFC 2920), the reply to RCPT may come
 * after DATA: if the next reply complains about missing recipients, the refusal was for RCPT.
 */
function correctPipelined(exchanges: readonly CommandAndReply[]): CommandAndReply[] {
  return exchanges.map((exchange, index) => {
    const next = exchanges[index + 1]
    const isMissing = next?.lines.some((line) => MISSING_RECIPIENT.test(line)) === true
    return isMissing && /^data$/i.test(exchange.command)
      ? { ...exchange, command: 'RCPT TO' }
      : exchange
  })
}

function pickRefusal(
  exchanges: readonly CommandAndReply[],
  recipient: string,
): CommandAndReply | undefined {
  const refusals = exchanges.filter(({ code, lines }) => {
    return code >= 400 && !lines.some(isConsequence)
  })
  const isRcpt = ({ command }: CommandAndReply) => /^rcpt.{0,9}</i.test(command)
  const own = refusals.filter((one) => {
    return !isRcpt(one) || recipient === '' || one.command.toLowerCase().includes(recipient)
  })
  return own.at(-1) ?? refusals.at(-1)
}

/** Lists the replies in order, each with its command. */
function listExchanges(lines: readonly string[]): CommandAndReply[] {
  const exchanges: CommandAndReply[] = []
  let command = ''
  let isOpen = false
  for (const line of lines) {
    const sent = COMMAND_LINE.exec(line)?.[1]
    if (sent !== undefined) command = sent.trim()
    const reply = sent === undefined ? REPLY_LINE.exec(line) : null
    if (reply === null) {
      isOpen = false
      continue
    }
    const [, text = '', digits = ''] = reply
    const code = Number(digits)
    const last = exchanges.at(-1)
    const quoted = `<<< ${text.replace(/\s+/g, ' ').trim()}`
    if (isOpen && last?.code === code) last.lines.push(quoted)
    else exchanges.push({ command, code, lines: [quoted] })
    isOpen = true
    if (code === 354) command = 'end of DATA'
  }
  return exchanges
}
