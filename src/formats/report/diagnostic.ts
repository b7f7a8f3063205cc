/** Reads reply code, enhanced status code and command from a diagnostic text. */
import type { Stage } from '../replies/reply.ts'

export type Diagnosis = {
  /** RFC 5321: 400 to 599, or 2yz for delivered mail; null if the text has none. */
  replyCode: number | null
  /** RFC 3463. */
  status: string | null
  /** The command that the other server replied to, if the text names it. */
  command: Stage | null
}

const MAX_LENGTH = 8_000

const STATUS = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d]|\.\d)/g
const REPLY_CODE =
  /(?<![\w.=/@-])([245][0-5]\d)(?![ \t]{0,3}(?:[kmg]?b|[kmg]?i?bytes?|kilobytes?|megabytes?|octets?|characters?|chars|lines?|messages?|mails?|e-?mails?|recipients?|rcpts?|users|connections?|sessions?|seconds?|secs?|minutes?|mins?|hours?|days?|times?|attempts?|tries|retries|errors|hops)\b)(?=[ \t]{1,3}["'<([#*:\p{L}]|[ \t]\d{1,3}[ \t]\p{Lu}|[ \t-]{1,3}(?:#?[245]\.\d|[\p{L}<"'([])|[,;:]|[ \t]{0,3}$|[-\t ]{1,3}https?:)/gu

/** Words before a number that is a size, a count or a port. */
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

export function readDiagnosis(text: string): Diagnosis {
  const bounded = text.slice(0, MAX_LENGTH)
  const status = pickStatus(bounded)
  return { replyCode: pickCode(bounded, status), status, command: readCommand(bounded) }
}

/** The most specific code in a text; a code of success only if there is no other. */
function pickStatus(text: string): string | null {
  const codes = Array.from(text.matchAll(STATUS), (match) => match[0])
  const refusals = codes.filter((code) => !code.startsWith('2'))
  return mostSpecific(refusals.length > 0 ? refusals : codes)
}

/** The first of the most specific codes; null without any. */
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

/** The command of a transcript's first refusal, else the command that the prose names. */
export function readCommand(text: string): Stage | null {
  const bounded = text.slice(0, MAX_LENGTH).toLowerCase()
  const refusal = /<<< ?[45]\d\d/.exec(bounded)
  const scope = refusal === null ? bounded : lastCommandBefore(bounded, refusal.index)
  return COMMANDS.find(([, pattern]) => pattern.test(scope))?.[0] ?? null
}

function lastCommandBefore(text: string, at: number): string {
  const start = text.lastIndexOf('>>>', at)
  return start === -1 ? '' : text.slice(start, at)
}
