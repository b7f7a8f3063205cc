/** `queue show`: one email with its state, the reason, and each attempt with its steps. */
import { formatInstant, formatOptionalInstant } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { OpenCore } from '../../core/open-core.ts'
import { findIdByMessageId } from '../../features/insight/emails/named-emails.ts'
import { toAttemptView } from '../../features/insight/emails/show-email.ts'
import {
  type EmailHistory,
  findOtherKind,
  judgesServer,
  loadEmailHistory,
} from '../../features/mail/messages/explain/email-history.ts'
import { explainEmails } from '../../features/mail/messages/explain/explain-emails.ts'
import type { Explanation } from '../../features/mail/messages/explain/facts.ts'
import { isInterrupted } from '../../features/mail/messages/explain/last-attempt.ts'
import {
  describeOrigin,
  findWorkflowOrigins,
  type WorkflowOrigin,
} from '../../features/mail/messages/explain/workflow-origin.ts'
import { isReport, REPORT_PREFIX } from '../../features/mail/messages/outcome/write-report.ts'
import type { Attempt, Email } from '../../store/schema/messages.ts'
import { type CommandContext, type Input, type Result, withCore } from '../engine/command.ts'
import { formatCommand } from '../engine/command-line.ts'
import { escapeControls, formatFields, formatTime } from '../engine/text.ts'
import { formatNext, toJson } from './list.ts'
import { createLiveSource, describeSilence, type LiveSource } from './live.ts'

/** Results of attempts that are only reports and do not end a delivery. */
const MERE_REPORTS: readonly string[] = [
  'reported-delayed',
  'reported-delivered',
  'reported-complaint',
]

type ShownStep = Attempt['steps'][number]
type LiveState = ReturnType<LiveSource['found']>

/** An email with all facts that `queue show` prints. `live`: null if the server was not asked. */
type ShownEmail = EmailHistory & {
  explanation: Explanation
  /** The workflow that sent the email; undefined for other mail. */
  workflow: WorkflowOrigin | undefined
  live: LiveState
  now: number
}

export async function showEmailCommand(context: CommandContext, { args }: Input): Promise<Result> {
  const [id = ''] = args
  const shown = await withCore(context, async (core) =>
    findEmail(core, (await findIdByMessageId(core, id)) ?? id),
  )
  return { json: toDetailedJson(shown, context.configPath), text: formatEmail(shown, context) }
}

async function findEmail(core: OpenCore, id: string): Promise<ShownEmail> {
  const shown = await loadHistory(core, id)
  const source = createLiveSource(core)
  const explained = await explainEmails(core, [shown.email], source.find)
  const explanation = explained.get(shown.email.id)
  if (explanation === undefined) throw new TypeError('an email was not explained')
  const origins = await findWorkflowOrigins(core.store.read, [shown.email])
  const workflow = origins.get(id)
  return { ...shown, explanation, workflow, live: source.found(), now: core.now() }
}

/**
 * Loads an email with its history.
 * @throws AppError RESOURCE_NOT_FOUND, which says what else has the id
 */
async function loadHistory(core: OpenCore, id: string): Promise<EmailHistory> {
  try {
    return await loadEmailHistory(core, id)
  } catch (error) {
    const isMissing = error instanceof AppError && error.code === 'RESOURCE_NOT_FOUND'
    const other = isMissing ? await findOtherKind(core, id) : undefined
    if (other === undefined) throw error
    const { kind, address } = other
    const to = address === undefined ? [] : ['--to', address]
    const suggestion = `To find the id of an email: ${formatCommand(['queue', 'list', ...to])}`
    const text = `There is no email ${id}: it is the id of ${kind}.`
    throw new AppError('RESOURCE_NOT_FOUND', text, { suggestion, cause: error })
  }
}

function toDetailedJson(
  { email, attempts, explanation, workflow, live }: ShownEmail,
  configPath: string | undefined,
) {
  const progress = progressOf(email, live)
  return {
    ...toJson({ ...email, ...explanation }),
    command: explanation.command === null ? null : formatCommand(explanation.command, configPath),
    progress: progress === undefined ? null : { ...progress, since: formatInstant(progress.since) },
    leaseUntil: formatOptionalInstant(email.leaseUntil),
    projectId: email.projectId,
    contactId: email.contactId,
    templateId: email.templateId,
    workflow: workflow ?? null,
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
    attempts: attempts.map(toAttemptView),
  }
}

function formatEmail(shown: ShownEmail, context: CommandContext): string {
  const { email, attempts, live } = shown
  const head = [`Email ${email.id}`, formatSummary(shown, context), ...describeSilence(live)]
  return [...head, ...formatAttempts(attempts)].join('\n\n')
}

function formatSummary(shown: ShownEmail, context: CommandContext): string {
  const { email, explanation, workflow, live, now } = shown
  const from = email.fromName === null ? '' : `${email.fromName} `
  const to = email.toName === null ? '' : `${email.toName} `
  const { reason, command, nextAttemptAt } = explanation
  const isSending = email.state === 'sending'
  const next = formatNext(nextAttemptAt, now)
  return formatFields({
    state: `${email.state} (${email.status})`,
    reason,
    ...formatAdvice(shown, context),
    'to change it': command === null ? null : formatCommand(command, context.configPath),
    ...formatProgress(email, live),
    error: email.error,
    from: `${from}<${email.fromAddress}>`,
    to: `${to}<${email.recipient}>`,
    subject: email.subject,
    ...faultFields(email),
    'message id': `<${email.messageId}>`,
    project: email.projectId,
    'sent by': workflow === undefined ? null : describeOrigin(workflow),
    accepted: formatTime(email.createdAt),
    held: formatTime(email.heldAt),
    attempts: String(email.attemptCount),
    'next attempt': isSending ? `${next ?? 'some time after this one'}, if this one fails` : next,
    'gives up': isGiveUpTimeRunning(email) ? formatTime(email.giveUpAt) : null,
    delivered: formatTime(email.deliveredAt),
    relayed: email.deliveredAt === null ? formatTime(email.sentAt) : null,
    'relayed as': email.providerId,
    bounced: formatTime(email.bouncedAt),
    complained: formatTime(email.complainedAt),
    opened: formatHits(email.opens, email.openedAt, email.machineOpens),
    clicked: formatHits(email.clicks, email.clickedAt, email.machineClicks),
  })
}

const UNDELIVERED: readonly string[] = ['deferred', 'bounced', 'failed']

/**
 * Advice if receivers judge this server: the receiver's own words rarely say what its operator can
 * do.
 */
function formatAdvice(
  { email, attempts }: ShownEmail,
  { configPath }: CommandContext,
): Record<string, string> {
  const decisive = attempts.findLast(({ result }) => !MERE_REPORTS.includes(result))
  if (!UNDELIVERED.includes(email.state) || decisive === undefined) return {}
  if (!judgesServer(decisive)) return {}
  const retry =
    email.state === 'bounced'
      ? 'send it again, because a bounced email is final'
      : formatCommand(['queue', 'retry', email.id], configPath)
  return {
    advice: `receivers judge this server: run ${formatCommand(['doctor'], configPath)}; afterwards ${retry}`,
  }
}

/** Fields of an email that is being sent: the host, the current step, and the end of the lease. */
function formatProgress(email: Email, live: LiveState): Record<string, string | null> {
  const progress = progressOf(email, live)
  const peer = progress?.peer
  return {
    peer: peer ? `${peer.host} [${peer.address}]` : null,
    step: progress === undefined ? null : `${progress.step}, since ${formatTime(progress.since)}`,
    'lease until': formatTime(email.leaseUntil),
  }
}

function progressOf({ id }: Email, live: LiveState) {
  return live?.server === 'running' ? live.progress[id] : undefined
}

/** Formats opens or clicks, such as `2 times, first 2026-11-21 12:00:00; 3 times by machines`. */
function formatHits(count: number, firstAt: number | null, byMachines: number): string | null {
  const parts = [
    count > 0 && `${formatTimes(count)}, first ${formatTime(firstAt)}`,
    byMachines > 0 && `${formatTimes(byMachines)} by machines`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? null : parts.join('; ')
}

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/**
 * Whether the time until the email is given up is running; it does not run while the email is held.
 */
function isGiveUpTimeRunning({ state }: Email): boolean {
  return ['queued', 'deferred', 'sending'].includes(state)
}

/** One field for each part in which a template fault was found when the email was rendered. */
function faultFields({ templateFaults }: Pick<Email, 'templateFaults'>) {
  const fields = (templateFaults ?? []).map(({ part, line, column, message }) => {
    const place = line === null ? '' : `line ${line}, column ${column}: `
    return [`fault in ${part}`, place + message] as const
  })
  return Object.fromEntries(fields)
}

/**
 * Formats the attempts with numbers. Reports and interrupted attempts, which the email's counter
 * leaves out, appear between them in order of time, without a number.
 */
export function formatAttempts(attempts: readonly Attempt[]): string[] {
  let number = 0
  return attempts.map((row) => {
    if (isReport(row)) return formatReport(row)
    return isInterrupted(row) ? formatInterrupted(row) : formatAttempt(row, ++number)
  })
}

function formatAttempt(attempt: Attempt, number: number): string {
  const kind = attempt.class === null ? '' : ` (${attempt.class})`
  const head = `Attempt ${number}, ${formatTime(attempt.at)}, ${attempt.durationMs} ms: ${attempt.result}${kind}`
  const lines = [head]
  if (attempt.host !== null || attempt.address !== null) lines.push(`  ${formatPeer(attempt)}`)
  if (attempt.error !== null) lines.push(`  ${escapeControls(attempt.error)}`)
  if (attempt.isMaybeDelivered)
    lines.push('  The receiver may have accepted the message nevertheless.')
  return [...lines, ...attempt.steps.flatMap(formatStep)].join('\n')
}

function formatInterrupted({ at, error }: Attempt): string {
  const head = `Interrupted attempt, ${formatTime(at)}`
  return [head, `  ${error}`, '  The receiver may have accepted the message.'].join('\n')
}

/** Formats a report that arrived after the session, such as a bounce or a complaint. */
function formatReport(report: Attempt): string {
  const { at, result, class: kind, host, finalRecipient } = report
  const outcome = result.slice(REPORT_PREFIX.length)
  const head = `Report, ${formatTime(at)}: ${outcome}${kind === null ? '' : ` (${kind})`}`
  const from = [host && `from ${host}`, finalRecipient && `about ${finalRecipient}`].filter(Boolean)
  const lines = [from.join(', '), ...describeReport(report)].filter((line) => line !== '')
  return [head, ...lines.map((line) => `  ${escapeControls(line)}`)].join('\n')
}

/** Returns the remote server's reply if the report quotes one, else the text of the report. */
function describeReport({ replyCode, enhancedCode, replyText, error }: Attempt): string[] {
  if (replyCode === null && enhancedCode === null) return error === null ? [] : [error]
  const codes = [replyCode, enhancedCode].filter((code) => code !== null).join(' ')
  return [replyText ? `${codes} ${replyText}` : codes]
}

function formatPeer({ host, address, tls }: Attempt): string {
  const where = host === null ? `[${address}]` : `${host}${address === null ? '' : ` [${address}]`}`
  return escapeControls(`${where}, ${tls ?? 'in clear'}`)
}

/** Formats a step: one line, and a further line for each further line of its reply. */
function formatStep({ step, at, durationMs, host, address, reply, error }: ShownStep): string[] {
  const place = [host, address && `[${address}]`].filter((part) => part !== undefined).join(' ')
  const code = reply === undefined ? '' : [reply.code, reply.enhancedCode].filter(Boolean).join(' ')
  const [first = '', ...others] = reply?.text.split('\n') ?? []
  const details = [place, code, first, error].filter((part) => part).join(' ')
  const time = `+${at} ms`.padStart(12)
  const lead = `${time}  ${step.padEnd(8)}  ${`${durationMs} ms`.padStart(9)}  `
  const indent = ' '.repeat(lead.length + code.length + 1)
  return [lead + escapeControls(details), ...others.map((line) => indent + escapeControls(line))]
}
