/**
 * SMTP sessions quoted in reports: `>>> RCPT To:<…>` and `<<< 550 …` of Sendmail, `In:` and `Out:` of
 * Postfix, arrows of others. Only the last refusal matters.
 */

type CommandAndReply = { command: string; code: number; lines: string[] }

const MAX_LINES = 1_200

const COMMAND_LINE =
  /^[\s>]{0,20}?(?:>>>|-->|->|In: |C: |CMD: |Sent <<<) {0,3}((?:helo|ehlo|lhlo|mail|rcpt|data|bdat|starttls|auth|quit|rset)\b[^\n]{0,300})/i
const REPLY_LINE =
  /^[\s>]{0,20}?(?:<<<|<--|<-|Out: |S: |RSP: |Received >>>) {0,3}((\d{3})\b([ -]?)[^\n]{0,1000})/i

const MISSING_RECIPIENT = /need rcpt|no valid recipients|valid rcpt|rcpt first/i
/** Replies that are only consequences of an earlier refusal. */
const CONSEQUENCE = /^(?:503|221)/

/**
 * Reduces the session in a text to the last refusal, preferably one of this recipient. A text
 * without a session is returned unchanged.
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

/** The complete reply that begins with `reply`, if a session in the text quotes it. */
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
 * With pipelining (RFC 2920), the reply to RCPT may come after DATA. If the next reply complains about
 * missing recipients, the refusal was for RCPT.
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

/** Replies in order, each with its command. */
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
