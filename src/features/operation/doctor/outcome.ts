/**
 * The ids of the server's checks, and what a check finds.
 *
 *   ok        as it should be
 *   warning   works, or could not be judged; somebody should look
 *   failed    mail or people suffer from it
 *   skipped   says nothing; the evidence is the reason
 *
 * Evidence may quote a hostile server. `toEvidence` makes it safe to print and bounds it.
 */
import { printable } from '../../../outbound/smtp/reply-parser.ts'

/** Stable: operators script against them, and they label a gauge. */
export type CheckId =
  | 'smtp_egress'
  | 'reverse_dns'
  | 'spf'
  | 'dkim'
  | 'dmarc'
  | 'return_path'
  | 'starttls'
  | 'certificates'
  | 'blocklists'
  | 'base_url'
  | 'one_click'
  | 'clock'
  | 'disk_space'
  | 'inodes'
  | 'wal'
  | 'oldest_due'
  | 'backup'
  | 'database'

export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped'

/** What a check found. */
export type Outcome = {
  status: CheckStatus
  /** What was seen; of a skipped check, why it was skipped. */
  evidence: string
  /** What to paste or do: lines of a zone or of the configuration, commands, or a sentence. */
  fix?: string
  /** When one of these checks is not ok, this outcome only follows from it, and is skipped. */
  follows?: readonly CheckId[]
}

export type CheckResult = {
  id: CheckId
  status: CheckStatus
  evidence: string
  /** Null when there is nothing to do. */
  fix: string | null
}

export const MAX_EVIDENCE = 500
const MAX_FIX = 4_000

/** Why a check is skipped in a command beside no server, or beside one that does not answer. */
export const NEEDS_SERVER = 'only a running server can tell'

export const ok = (evidence: string): Outcome => ({ status: 'ok', evidence })
export const skipped = (why: string): Outcome => ({ status: 'skipped', evidence: why })
export const warning = (evidence: string, fix: string): Outcome => ({
  ...{ status: 'warning', evidence, fix },
})
export const failed = (evidence: string, fix: string): Outcome => ({
  ...{ status: 'failed', evidence, fix },
})

/** One line of at most 500 characters; control and direction characters are escaped. */
export function toEvidence(text: string): string {
  const line = printable(text.replace(/[\r\n\t]+/g, ' '), 2 * MAX_EVIDENCE).toWellFormed()
  return line.length <= MAX_EVIDENCE ? line : `${line.slice(0, MAX_EVIDENCE - 1).toWellFormed()}…`
}

export function toResult(id: CheckId, { status, evidence, fix }: Outcome): CheckResult {
  const isOk = status === 'ok' || status === 'skipped'
  return {
    ...{ id, status, evidence: toEvidence(evidence) },
    fix: isOk || fix === undefined ? null : toFix(fix),
  }
}

/** Keeps line ends: a fix may be several records. */
function toFix(fix: string): string {
  const lines = fix.split('\n').map((line) => printable(line, MAX_FIX))
  return lines.join('\n').slice(0, MAX_FIX)
}
