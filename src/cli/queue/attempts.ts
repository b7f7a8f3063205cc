/** Formats an email's attempts and reports, with each step and reply. */

import { isInterrupted } from '../../features/mail/messages/explain/phrases.ts'
import { isReport, REPORT_PREFIX } from '../../features/mail/messages/outcome/write-report.ts'
import type { Attempt } from '../../store/schema/messages.ts'
import { escapeControls, formatTime } from '../engine/text.ts'

type ShownStep = Attempt['steps'][number]

/**
 * Numbers the attempts. Reports and interrupted attempts, which the email does not count, appear
 * between them in order of time, without a number.
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

/** Formats a report that arrived after the session: a bounce or a complaint. */
function formatReport(report: Attempt): string {
  const { at, result, class: kind, host, finalRecipient } = report
  const outcome = result.slice(REPORT_PREFIX.length)
  const head = `Report, ${formatTime(at)}: ${outcome}${kind === null ? '' : ` (${kind})`}`
  const from = [host && `from ${host}`, finalRecipient && `about ${finalRecipient}`].filter(Boolean)
  const lines = [from.join(', '), ...describeReport(report)].filter((line) => line !== '')
  return [head, ...lines.map((line) => `  ${escapeControls(line)}`)].join('\n')
}

/** The remote server's reply if the report quotes it, else the text of the report. */
function describeReport({ replyCode, enhancedCode, replyText, error }: Attempt): string[] {
  if (replyCode === null && enhancedCode === null) return error === null ? [] : [error]
  const codes = [replyCode, enhancedCode].filter((code) => code !== null).join(' ')
  return [replyText ? `${codes} ${replyText}` : codes]
}

function formatPeer({ host, address, tls }: Attempt): string {
  const where = host === null ? `[${address}]` : `${host}${address === null ? '' : ` [${address}]`}`
  return escapeControls(`${where}, ${tls ?? 'in clear'}`)
}

/** One line for the step, and one for each further line of its reply. */
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
