/** The whole story of one email: what it is, and each attempt with each of its steps. */
import { formatInstant, formatOptionalInstant } from '../clock.ts'
import {
  type Attempt,
  type Email,
  type EmailStory,
  isReport,
  reportPrefix,
  type Step,
  showEmail,
} from '../features/messages/operate.ts'
import { type Context, type Input, type Result, withCore } from './command.ts'
import { nextAttemptAt, toJson } from './queue.ts'
import { faultFields } from './queue-faults.ts'
import { escapeControls, formatFields, formatTime } from './text.ts'

export async function showEmailCommand(context: Context, { args }: Input): Promise<Result> {
  const [id = ''] = args
  const story = await withCore(context, (core) => showEmail(core, id))
  return { json: storyToJson(story), text: formatStory(story) }
}

function storyToJson({ email, attempts }: EmailStory) {
  return {
    ...toJson(email),
    projectId: email.projectId,
    contactId: email.contactId,
    templateId: email.templateId,
    messageId: email.messageId,
    providerId: email.providerId,
    error: email.error,
    templateFaults: email.templateFaults ?? [],
    createdAt: formatInstant(email.createdAt),
    giveUpAt: formatInstant(email.giveUpAt),
    heldAt: formatOptionalInstant(email.heldAt),
    sentAt: formatOptionalInstant(email.sentAt),
    deliveredAt: formatOptionalInstant(email.deliveredAt),
    bouncedAt: formatOptionalInstant(email.bouncedAt),
    complainedAt: formatOptionalInstant(email.complainedAt),
    openedAt: formatOptionalInstant(email.openedAt),
    clickedAt: formatOptionalInstant(email.clickedAt),
    opens: email.opens,
    clicks: email.clicks,
    machineOpens: email.machineOpens,
    machineClicks: email.machineClicks,
    attempts: attempts.map(attemptToJson),
  }
}

function attemptToJson(attempt: Attempt) {
  const { replyCode: code, enhancedCode, replyText: text } = attempt
  return {
    at: formatInstant(attempt.at),
    durationMs: attempt.durationMs,
    host: attempt.host,
    address: attempt.address,
    tls: attempt.tls,
    result: attempt.result,
    class: attempt.class,
    reply: code === null ? null : { code, enhancedCode, text },
    error: attempt.error,
    maybeDelivered: attempt.isMaybeDelivered,
    steps: attempt.steps,
  }
}

function formatStory({ email, attempts }: EmailStory): string {
  let number = 0
  const tries = attempts.map((row) =>
    isReport(row) ? formatReport(row) : formatAttempt(row, ++number),
  )
  return [`Email ${email.id}`, formatSummary(email), ...tries].join('\n\n')
}

function formatSummary(email: Email): string {
  const from = email.fromName === null ? '' : `${email.fromName} `
  const to = email.toName === null ? '' : `${email.toName} `
  return formatFields({
    state: `${email.state} (${email.status})`,
    error: email.error,
    from: `${from}<${email.fromAddress}>`,
    to: `${to}<${email.recipient}>`,
    subject: email.subject,
    ...faultFields(email),
    'message id': `<${email.messageId}>`,
    project: email.projectId,
    accepted: formatTime(email.createdAt),
    held: formatTime(email.heldAt),
    attempts: String(email.attemptCount),
    'next attempt': formatTime(nextAttemptAt(email)),
    'gives up': isOpen(email) ? formatTime(email.giveUpAt) : null,
    delivered: formatTime(email.deliveredAt),
    relayed: email.deliveredAt === null ? formatTime(email.sentAt) : null,
    'relayed as': email.providerId,
    bounced: formatTime(email.bouncedAt),
    complained: formatTime(email.complainedAt),
    opened: formatHits(email.opens, email.openedAt, email.machineOpens),
    clicked: formatHits(email.clicks, email.clickedAt, email.machineClicks),
  })
}

/** `2 times, first 2026-11-21 12:00:00; 3 times by machines` */
function formatHits(count: number, firstAt: number | null, byMachines: number): string | null {
  const said = [
    count > 0 && `${formatTimes(count)}, first ${formatTime(firstAt)}`,
    byMachines > 0 && `${formatTimes(byMachines)} by machines`,
  ].filter((part) => part !== false)
  return said.length === 0 ? null : said.join('; ')
}

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function isOpen({ state }: Email): boolean {
  return ['queued', 'deferred', 'held', 'sending'].includes(state)
}

function formatAttempt(attempt: Attempt, number: number): string {
  const kind = attempt.class === null ? '' : ` (${attempt.class})`
  const head = `Attempt ${number}, ${formatTime(attempt.at)}, ${attempt.durationMs} ms: ${attempt.result}${kind}`
  const lines = [head]
  if (attempt.host !== null || attempt.address !== null) lines.push(`  ${formatPeer(attempt)}`)
  if (attempt.error !== null) lines.push(`  ${escapeControls(attempt.error)}`)
  if (attempt.isMaybeDelivered) lines.push('  The other side may have taken it all the same.')
  return [...lines, ...(attempt.steps as Step[]).flatMap(formatStep)].join('\n')
}

/** What came back after the session: a bounce, a complaint. */
function formatReport({ at, result, class: kind, host, error }: Attempt): string {
  const what = result.slice(reportPrefix.length)
  const head = `Report, ${formatTime(at)}: ${what}${kind === null ? '' : ` (${kind})`}`
  const from = host === null ? [] : [`  by ${escapeControls(host)}`]
  return [head, ...from, ...(error === null ? [] : [`  ${escapeControls(error)}`])].join('\n')
}

function formatPeer({ host, address, tls }: Attempt): string {
  const where = host === null ? `[${address}]` : `${host}${address === null ? '' : ` [${address}]`}`
  return escapeControls(`${where}, ${tls ?? 'in clear'}`)
}

/** One line, and another for each further line of the reply. */
function formatStep({ step, at, durationMs, host, address, reply, error }: Step): string[] {
  const place = [host, address && `[${address}]`].filter((part) => part !== undefined).join(' ')
  const code = reply === undefined ? '' : [reply.code, reply.enhancedCode].filter(Boolean).join(' ')
  const [first = '', ...others] = reply?.text.split('\n') ?? []
  const said = [place, code, first, error].filter((part) => part).join(' ')
  const time = `+${at} ms`.padStart(12)
  const lead = `${time}  ${step.padEnd(8)}  ${`${durationMs} ms`.padStart(9)}  `
  const indent = ' '.repeat(lead.length + code.length + 1)
  return [lead + escapeControls(said), ...others.map((line) => indent + escapeControls(line))]
}
